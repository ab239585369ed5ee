/* SPDX-License-Identifier: Apache-2.0
 *
 * region_rows - the regions of a profile, in rows: all of a name together, by thread, or
 * in their calling contexts.
 *
 * Stacks of the experiment regions are made of regions.  Borrows the profile.
 */
#ifndef DWELL_ANALYZE_REGION_ROWS_H
#define DWELL_ANALYZE_REGION_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/vec.h"

enum region_rows_by {
	REGION_ROWS_BY_REGION,
	REGION_ROWS_BY_THREAD,
	REGION_ROWS_BY_TREE,
	REGION_ROWS_N_BYS,
};

struct region_row {
	uint32_t function; /* in the profile; of a thread's own row MODEL_NONE */
	uint32_t parent;   /* row of the context, or of the thread; MODEL_NONE: none */
	uint32_t depth;
	char *thread; /* of a thread's own row, else NULL */
	uint64_t calls, subroutines, exclusive, inclusive;
	uint64_t counted;
	bool is_counter;
};

struct region_rows {
	VEC(struct region_row) rows; /* a parent is before what is in it */
	struct region_row total;
	const char *unit; /* of the times, "ns" or what else was recorded */
	bool has_regions; /* the recordings have them at all */
};

must_use int region_rows_make(const struct profile *p, enum region_rows_by by,
			      struct region_rows *ret, struct err *e);
void region_rows_fini(struct region_rows *r);

/* "parse" of "[region parse]", "lines" of "[counter lines]"; of a function its name. */
void region_rows_name(const struct profile *p, uint32_t function, char *ret, size_t cap);
bool region_rows_is_counter(const struct profile *p, uint32_t function);

#endif
