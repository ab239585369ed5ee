/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_watch - how often a process comes to some addresses, for a moment.
 *
 * The CPU's breakpoints: there are four of them, and each time that one is met costs
 * microseconds.  What was met is counted in CPU time of the threads that
 * were there at the begin.
 */
#ifndef DWELL_COLLECT_ANCHOR_WATCH_H
#define DWELL_COLLECT_ANCHOR_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"

#define ANCHOR_WATCH_MAX 4 /* places at a time */

struct anchor_watch {
	VEC(int) fds; /* of each thread, one for each place */
	size_t n_places;
	/* When it has ended. */
	uint64_t hits[ANCHOR_WATCH_MAX];
	uint64_t all_hits;
	uint64_t cpu_ns; /* of all threads, with what that cost */
};

void anchor_watch_fini(struct anchor_watch *w);

/* What it costs to meet one, where nothing else is going on. */
struct anchor_watch_cost {
	bool is_known;
	uint64_t ns; /* 0: there are none */
};

/* Measures it the first time, which takes milliseconds. */
uint64_t anchor_watch_cost_ns(struct anchor_watch_cost *c);

/* False: the process has ended, or somebody else has its breakpoints. */
bool anchor_watch_begin(struct anchor_watch *w, pid_t pid, const uint64_t *addrs,
			size_t n);
void anchor_watch_end(struct anchor_watch *w);

#endif
