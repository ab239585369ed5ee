/* SPDX-License-Identifier: Apache-2.0
 *
 * metrics - exclusive, inclusive and attributed sums over all stacks of a profile.
 *
 * Exclusive goes to the row of the innermost frame, inclusive once to each distinct row
 * on the stack.  What a row is the caller says: functions, lines, images …
 */
#ifndef DWELL_ANALYZE_METRICS_H
#define DWELL_ANALYZE_METRICS_H

#include "analyze/profile.h"

/* Values are at [row * n_columns + column]. */
struct metrics {
	size_t n_rows, n_columns;
	uint64_t *exclusive, *inclusive;
	uint64_t *exclusive_counts; /* samples */
};

void metrics_fini(struct metrics *m);
/* row_of_frame[i] is the row of the profile's i-th frame, MODEL_NONE for none; NULL
 * makes every function a row. */
void metrics_sum(struct metrics *ret, const struct profile *p,
		 const uint32_t *row_of_frame, size_t n_rows);

/* A caller or a callee with what is attributed to it, one value a column. */
struct metrics_edge {
	uint32_t function; /* METRICS_TOTAL: no caller */
	uint64_t *values;
};

#define METRICS_TOTAL UINT32_MAX

/* One function's own table: the callers' values add up to its inclusive metric, and so
 * do the callees' values and its exclusive metric.  Per stack the innermost occurrence
 * of the function decides. */
struct metrics_butterfly {
	size_t n_columns;
	uint64_t *exclusive, *inclusive;
	struct metrics_edge *callers, *callees; /* in no order */
	size_t n_callers, n_callees;
	uint64_t *values; /* memory of the edges */
};

void metrics_butterfly_fini(struct metrics_butterfly *b);
void metrics_attribute(struct metrics_butterfly *ret, const struct profile *p,
		       uint32_t function);

#endif
