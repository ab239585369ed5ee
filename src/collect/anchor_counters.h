/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_counters - counters inside a program that runs natively.
 *
 * A direct call or jump of five bytes is led through a few instructions of ours, which
 * add one and go on to where it led: only where it leads to is written, while all threads
 * are stopped, so nobody can be in the middle of it.  That takes nanoseconds each time,
 * where a breakpoint takes microseconds.
 *
 * These instructions and the counters stay in the program's memory, 8 KB each two
 * gigabytes of code, as a thread may be there; calls and jumps are as they were again
 * when a counter is off.  Children by fork go through copies of them, until they execute
 * another program.
 */
#ifndef DWELL_COLLECT_ANCHOR_COUNTERS_H
#define DWELL_COLLECT_ANCHOR_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/anchor_site.h"
#include "host/newcomers.h"

#define ANCHOR_COUNTERS_AREAS 4
#define ANCHOR_COUNTERS_MAX   48 /* of one process, those that are off included */

struct anchor_counter {
	struct anchor_site site;
	uint32_t area, number; /* in that */
	bool is_on;
	uint64_t hits; /* as last read, since it is there */
};

struct anchor_counters_area {
	uint64_t start;
	uint32_t n;
};

/* Of one program that a process runs. */
struct anchor_counters {
	pid_t pid;
	VEC(struct anchor_counter) at;
	struct anchor_counters_area areas[ANCHOR_COUNTERS_AREAS];
	size_t n_areas;
	uint64_t mark;		/* in each area: it is ours, and has these or fewer */
	bool is_inherited;	/* with the mark of another */
	struct newcomers alone; /* count_status_check_sharing */
	uint64_t stood_ns;	/* CPU time of the process when all of it stood last */
};

/* Nothing of the process changes. */
void anchor_counters_fini(struct anchor_counters *c);

/* Those that a process, whose pid is set, has by fork of one that has these by now, or
 * had them: such as came behind the fork it has not.  False: it has none, or executes
 * another program. */
bool anchor_counters_inherit(struct anchor_counters *c, const struct anchor_counters *of);
/* Those among the sites that can have one, and are not there yet.  On failure some may
 * have one. */
must_use int anchor_counters_add(struct anchor_counters *c,
				 const struct anchor_site *sites, size_t n,
				 struct err *e);
/* False: the process has ended, or executes another program. */
bool anchor_counters_read(struct anchor_counters *c);
/* Of each whether it is on from now on; numbers stay what they are.  On failure those
 * that were on are, as long as they can be read. */
must_use int anchor_counters_set(struct anchor_counters *c, const bool *is_on,
				 struct err *e);
/* The same, and all of it stands for that in any case: what has been counted by then is
 * of that CPU time exactly.  Of one that runs the kernel tells its time at the last tick,
 * and it goes on between two looks at it. */
must_use int anchor_counters_stand(struct anchor_counters *c, const bool *is_on,
				   struct err *e);
bool anchor_counters_are_on(const struct anchor_counters *c);
/* All are off; on failure the process goes on with some. */
must_use int anchor_counters_end(struct anchor_counters *c, struct err *e);

#endif
