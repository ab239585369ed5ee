/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu_watch - CPUs that come and go while something is open on each.
 *
 * What is open for a whole CPU ends when that goes offline, and has to be opened again
 * when it is back: also when nobody looked meanwhile, as a CPU that comes has another
 * life (host/cpus.h) than before.  A suspend takes all CPUs but one away like that.
 */
#ifndef DWELL_COLLECT_CPU_WATCH_H
#define DWELL_COLLECT_CPU_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"

struct cpu_watch_one {
	uint32_t id;
	uint64_t life;
};

struct cpu_watch {
	uint64_t every_ns; /* no look is sooner after the one before; by who embeds it */
	uint64_t next_ns;
	uint64_t n_changes; /* a CPU came or went */
	VEC(struct cpu_watch_one) open;
};

/* What is open on CPUs. */
struct cpu_watch_user {
	void *ctx;
	/* False: not now, as a CPU says that it is online a moment before it is. */
	bool (*open)(void *ctx, uint32_t cpu);
	void (*close)(void *ctx, uint32_t cpu); /* NULL: nothing to do */
};

void cpu_watch_fini(struct cpu_watch *w);
/* Before anything is opened: on those that are online it will be. */
must_use int cpu_watch_begin(struct cpu_watch *w, struct err *e);
/* Close and open what has changed, if it is time to look.  True: something was opened. */
bool cpu_watch_look(struct cpu_watch *w, uint64_t now_ns,
		    const struct cpu_watch_user *user);

#endif
