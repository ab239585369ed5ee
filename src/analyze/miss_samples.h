/* SPDX-License-Identifier: Apache-2.0
 *
 * miss_samples - where samples of misses landed in a function: of each event that tells
 * of a cause of stalls, by instruction.
 *
 * Recordings of the same event are as many runs.  What landed and how much one sample
 * stands for is told apart, because chance goes by the first.
 */
#ifndef DWELL_ANALYZE_MISS_SAMPLES_H
#define DWELL_ANALYZE_MISS_SAMPLES_H

#include "analyze/event_name.h"
#include "analyze/listing.h"
#include "base/map.h"

#define MISS_SAMPLES_MAX 16 /* events; more are not looked at */

struct miss_samples_event {
	const struct event_name *name;
	const char *column; /* as the recording calls it */
	bool is_precise;
	unsigned n_runs;
	double each;	 /* events that one sample stands for */
	double all;	 /* samples, of everything that was recorded */
	double here;	 /* the same: in the function */
	double *of_step; /* the same: [step] */
};

struct miss_samples {
	struct miss_samples_event events[MISS_SAMPLES_MAX];
	unsigned n;
};

/* step_at: of link-time addresses, n_steps of them. */
void miss_samples_take(struct miss_samples *ret, const struct profile *p,
		       const struct listing_rows *rows, const struct map *step_at,
		       uint32_t n_steps);
void miss_samples_fini(struct miss_samples *m);

#endif
