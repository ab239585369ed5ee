/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_between - two ends of intervals of a recording, and what processes held then.
 */
#ifndef DWELL_ANALYZE_HEAP_BETWEEN_H
#define DWELL_ANALYZE_HEAP_BETWEEN_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/heap_facts.h"
#include "analyze/heap_rows.h"
#include "base/err.h"
#include "base/own.h"
#include "store/recording.h"

/* The end of an interval; number 0: the beginning of the recording. */
struct heap_bound {
	uint64_t time_ns;
	uint32_t number;  /* of the interval */
	const char *name; /* of the mark that ended it, or "" */
};

struct heap_between {
	struct heap_bound from, to;
};

/* "A,B": names of marks, of which A is the first that is called so and B the last, or
 * numbers of intervals, "start" or "end".  Borrows from the recording.  Refused where
 * sums were not cut then. */
must_use int heap_between_find(const struct recording *r, const struct heap_rows *rows,
			       const char *text, struct heap_between *ret, struct err *e);

struct heap_held {
	uint64_t bytes, blocks;
};

struct heap_held heap_between_held(const struct heap_rows *rows,
				   const struct heap_process *process, uint64_t time_ns);

#endif
