/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_ranges - pieces of a process' memory.
 *
 * Zero-initialise, release with heap_ranges_fini().
 */
#ifndef DWELL_COLLECT_HEAP_RANGES_H
#define DWELL_COLLECT_HEAP_RANGES_H

#include <stdint.h>

#include "base/vec.h"

struct heap_range {
	uint64_t start, end;
};

struct heap_ranges {
	VEC(struct heap_range) all;
};

void heap_ranges_fini(struct heap_ranges *r);
/* One that is empty is not added. */
void heap_ranges_add(struct heap_ranges *r, uint64_t start, uint64_t end);
/* Adds to ret, ascending, what of the one is not in the other.  Both are sorted. */
void heap_ranges_subtract(struct heap_ranges *from, struct heap_ranges *what,
			  struct heap_ranges *ret);

#endif
