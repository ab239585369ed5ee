/* SPDX-License-Identifier: Apache-2.0
 *
 * sync_ledger - waits of one program image summed up: who waited how long for what, and
 * who let them wait.
 *
 * A wait for a lock may outlive several holders.  Each of these is charged from the
 * release before his to his own, and the last one to the end of the wait.  Of a condition
 * or a semaphore the last one who woke is charged for all of it.  Stacks are indices,
 * which are the caller's.  Zero-initialise, release with sync_ledger_fini().
 */
#ifndef DWELL_COLLECT_SYNC_LEDGER_H
#define DWELL_COLLECT_SYNC_LEDGER_H

#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "wire/tracer_sync.h"

/* Releases of a lock that are remembered: as many as a wait can be cut by. */
#define SYNC_LEDGER_RELEASES 16
/* Step 0: 0 ns; step i: from 2^(i-1) ns on. */
#define SYNC_LEDGER_STEPS 48

struct sync_release {
	uint64_t time_ns;
	uint32_t stack;
};

struct sync_lock {
	uint64_t address;
	uint64_t n_releases;	       /* ever */
	struct sync_release *releases; /* the last ones, in turn; NULL: none yet */
};

/* Who waits for what. */
struct sync_site {
	uint32_t stack, lock; /* indices */
	enum wire_tracer_sync what;
	uint64_t n, ns;			   /* n: that have ended */
	uint64_t steps[SYNC_LEDGER_STEPS]; /* how many waits took how long */
};

/* Who let a site wait. */
struct sync_debt {
	uint32_t site, stack; /* indices */
	uint64_t n, ns;
};

struct sync_ledger {
	struct map lock_of, site_of, debt_of; /* by key → index */
	VEC(struct sync_lock) locks;
	VEC(struct sync_site) sites;
	VEC(struct sync_debt) debts;
	uint64_t n_waits;
};

struct sync_wait {
	uint64_t time_ns, waited_ns; /* when it was over */
	uint64_t address;
	uint32_t stack;
	enum wire_tracer_sync what;
};

void sync_ledger_fini(struct sync_ledger *l);
/* In the order of the records. */
void sync_ledger_release(struct sync_ledger *l, uint64_t time_ns, uint64_t address,
			 uint32_t stack);
void sync_ledger_wait(struct sync_ledger *l, const struct sync_wait *w);
/* Was it told, since that time, that somebody released what is there? */
bool sync_ledger_was_released(const struct sync_ledger *l, uint64_t address,
			      uint64_t since_ns);
/* Its time so far: it has not ended, and who lets it wait is not known. */
void sync_ledger_wait_on(struct sync_ledger *l, const struct sync_wait *w);
/* Sums begin anew; what is known of locks stays. */
void sync_ledger_clear(struct sync_ledger *l);
/* Is it a lock, that somebody else has held? */
bool sync_ledger_is_lock(enum wire_tracer_sync what);
/* The least that is in a step. */
uint64_t sync_ledger_least(unsigned step);

#endif
