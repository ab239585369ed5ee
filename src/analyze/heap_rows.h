/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_rows - what recordings of the heap say by size, by lifetime and over time.
 *
 * Sizes and lifetimes are summed over processes; each process has a course and cuts of
 * its own: when what was taken and given back began to be summed anew.
 */
#ifndef DWELL_ANALYZE_HEAP_ROWS_H
#define DWELL_ANALYZE_HEAP_ROWS_H

#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/recording.h"

/* Shapes of rows, as they begin in docs/format.md. */
enum heap_rows_kind {
	HEAP_ROWS_SIZES,     /* less than, allocations, bytes, blocks left, bytes left */
	HEAP_ROWS_LIFETIMES, /* ns less than, blocks, bytes */
	HEAP_ROWS_COURSE, /* held at most, held, blocks, bytes allocated, allocations */
	HEAP_ROWS_CUTS,	  /* held, blocks, intervals that ended before the next one */
	HEAP_ROWS_N,
};

#define HEAP_ROWS_VALUES 5

struct heap_row {
	uint32_t process; /* of a course and of cuts */
	uint64_t time_ns; /* of a course: the end of its span; of a cut */
	uint64_t values[HEAP_ROWS_VALUES];
};

struct heap_rows {
	VEC(struct heap_row) of[HEAP_ROWS_N]; /* by the first value; others by time */
};

must_use int heap_rows_load(struct heap_rows *h, const struct recording *r,
			    struct err *e);
void heap_rows_fini(struct heap_rows *h);
/* The names of the values, NULL behind the last; in docs/format.md. */
const char *const *heap_rows_names(enum heap_rows_kind kind);

#endif
