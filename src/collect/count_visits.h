/* SPDX-License-Identifier: Apache-2.0
 *
 * count_visits - running processes that the counting engine came to, with the children
 * that they have by fork meanwhile, until it leaves them all.
 */
#ifndef DWELL_COLLECT_COUNT_VISITS_H
#define DWELL_COLLECT_COUNT_VISITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/count_attach.h"
#include "collect/count_resting.h"
#include "host/newcomers.h"

/* One that the engine could not leave. */
struct count_kept {
	struct count_attached a;
	/* No child that came before the first one is unknown; the other one is later. */
	struct newcomers begun, looked;
	const struct count_look *look; /* NULL: nobody does */
	bool may_rest;
	unsigned n_tries;
	uint64_t tried_ns, try_ns; /* when it was last tried, and is again */
	struct err why;
};

/* What is done about those that are kept. */
enum count_visits_try {
	COUNT_VISITS_LOOK, /* they are tried only if they wait for it */
	COUNT_VISITS_TRY,  /* whose time it is */
	COUNT_VISITS_LAST, /* each, with more patience */
};

struct count_visits {
	VEC(struct count_attached) at;
	struct newcomers begun; /* before the engine came to the first */
	uint64_t n_confined;	/* left before they forbade themselves calls */
	pid_t first;
	VEC(struct count_kept) kept;
	uint64_t n_kept;	       /* as many ... */
	struct err why_kept;	       /* ... the first of them */
	const struct count_look *look; /* at the first one; NULL: nobody does */
	bool lets_rest;		       /* the first one's engine, until all ends */
	struct count_resting resting;
};

void count_visits_fini(struct count_visits *v);

/* The process counts into the directory from now on, by flags of wire/count_flags.h. */
must_use int count_visits_begin(struct count_visits *v, pid_t pid,
				const struct count_directory *d, const char *flags,
				struct err *e);
/* By fork, perhaps of one of them: then the engine is there as well. */
void count_visits_child(struct count_visits *v, uint32_t pid, uint32_t parent);
/* Some wait to be left before they forbid themselves system calls. */
bool count_visits_are_awaited(const struct count_visits *v);
/* These alone. */
void count_visits_leave_awaited(struct count_visits *v);
/* Those too that have not told that they are there. */
void count_visits_end(struct count_visits *v);
/* The engine could not leave it; NULL: it could, or has not come. */
const struct count_kept *count_visits_kept(const struct count_visits *v, pid_t pid);
/* Those that are kept are left if they can be, with the children that they have had by
 * fork: in short attempts, each after twice the time, and no more after some. */
void count_visits_try_kept(struct count_visits *v, enum count_visits_try how);

#endif
