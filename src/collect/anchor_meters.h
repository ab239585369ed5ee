/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_meters - how often a process comes to some calls and jumps, all of the time that
 * it runs natively.
 *
 * Their counters (collect/anchor_counters) are chosen by what windows of exact counts
 * have, and read when one begins and ends, and for a moment before and behind it: by that
 * moment's rate it is known how long what was counted takes natively.  Some come so often
 * that they are on in these moments only.
 */
#ifndef DWELL_COLLECT_ANCHOR_METERS_H
#define DWELL_COLLECT_ANCHOR_METERS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/anchor_budget.h"
#include "collect/anchor_counters.h"
#include "collect/anchor_heirs.h"
#include "collect/anchor_record.h"

/* What a counter had when something began. */
struct anchor_meters_since {
	uint64_t hits, cpu_ns;
};

/* Of each counter. */
struct anchor_meter {
	struct anchor_meters_since told, near, looked;
	double near_hits, near_rate;  /* in the last moment, and each native nanosecond
				       * of that; 0: not known */
	bool is_for_moments, is_left; /* it took too much */
};

struct anchor_meters {
	struct anchor_record *record; /* borrowed */
	struct anchor_counters counters;
	VEC(struct anchor_meter) at;  /* as many */
	clockid_t clock;	      /* the process's CPU time */
	struct anchor_budget *budget; /* of which that takes its part; borrowed */
	struct anchor_heirs *heirs;   /* of counters that it has no more; borrowed */
	double hit_ns;		      /* what meeting one takes, at most */
	bool is_near;		      /* a moment has begun */
};

void anchor_meters_fini(struct anchor_meters *m);

/* A process has them by fork of one that had these, unless it executes another program.
 */
void anchor_meters_inherit(struct anchor_meters *m, const struct anchor_meters *of);
/* Whether there are any that are on or will be. */
bool anchor_meters_are(const struct anchor_meters *m);
/* Forgets them when the process executes another program, where nothing of them is. */
void anchor_meters_check(struct anchor_meters *m);
/* By the record's last window, which took that much CPU time natively, about; those for
 * moments are on now. */
void anchor_meters_choose(struct anchor_meters *m, uint64_t cpu_ns);
/* Those that took too much since the last look are off from now on. */
void anchor_meters_look(struct anchor_meters *m, uint32_t window);
/* Records what was met since; window: the next. */
void anchor_meters_tell(struct anchor_meters *m, uint32_t window);
/* What was met in a window is in that. */
void anchor_meters_begin(struct anchor_meters *m);
/* A moment before or behind a window, which is between two times that all of the process
 * stands; what is on for moments only stays so behind it, or is off. */
void anchor_meters_begin_near(struct anchor_meters *m);
void anchor_meters_tell_near(struct anchor_meters *m, uint32_t window, bool stay_on);
void anchor_meters_end_near(struct anchor_meters *m);
/* How long what the record's window has takes natively, by the moment before it; 0: too
 * little is known. */
double anchor_meters_window_ns(const struct anchor_meters *m);
/* From now on they are the heirs' to end, also in the process itself. */
void anchor_meters_let_go(struct anchor_meters *m);

#endif
