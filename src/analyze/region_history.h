/* SPDX-License-Identifier: Apache-2.0
 *
 * region_history - the performance callstacks that a recording of regions has, by time.
 *
 * Borrows the profile.
 */
#ifndef DWELL_ANALYZE_REGION_HISTORY_H
#define DWELL_ANALYZE_REGION_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/vec.h"

/* The values of an active region; columns of the recording's trace events, in their
 * order. */
enum region_history_value {
	REGION_HISTORY_CALLS,
	REGION_HISTORY_SUBROUTINES,
	REGION_HISTORY_EXCLUSIVE,
	REGION_HISTORY_INCLUSIVE,
	REGION_HISTORY_INSTANCE_EXCLUSIVE,
	REGION_HISTORY_INSTANCE_INCLUSIVE,
	REGION_HISTORY_N_VALUES,
};

extern const char *const region_history_names[REGION_HISTORY_N_VALUES];

struct region_slice_row {
	uint64_t time_ns; /* since the recording began */
	size_t source;
	const struct model_thread *thread;
	uint32_t function, depth;
	uint64_t values[REGION_HISTORY_N_VALUES];
};

struct region_history {
	VEC(struct region_slice_row) rows; /* by time and thread; the outermost first */
};

must_use int region_history_load(struct region_history *h, const struct profile *p,
				 struct err *e);
void region_history_fini(struct region_history *h);

#endif
