/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_growth - what places of a recording allocated between two ends of intervals, what
 * of it is still there at the second, and what else was given back.
 */
#ifndef DWELL_ANALYZE_HEAP_GROWTH_H
#define DWELL_ANALYZE_HEAP_GROWTH_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/heap_between.h"
#include "analyze/profile.h"
#include "base/vec.h"

enum heap_growth_sum {
	HEAP_GROWTH_TAKEN, /* in between */
	HEAP_GROWTH_GIVEN, /* in between, whenever it was taken */
	HEAP_GROWTH_YOUNG, /* of that, what was taken in between, too */
	HEAP_GROWTH_SUMS,
};

/* Stacks of a recording that cannot be told apart by what is shown of them. */
struct heap_growth_place {
	size_t source;
	uint32_t stack; /* id in the recording, of the first */
	uint64_t blocks[HEAP_GROWTH_SUMS], bytes[HEAP_GROWTH_SUMS];
	uint64_t kept_blocks, kept_bytes; /* taken in between, and there at the end */
	struct profile_frame *frames;	  /* innermost first; of those that are shown */
	size_t n_frames;
};

struct heap_growth {
	VEC(struct heap_growth_place) all; /* who has most of it left first */
	struct heap_growth_place total;	   /* the sums of these */
};

/* Of all recordings of the profile; between: one for each.  A filter that asks for what
 * only samples have is refused.  Frames of the first limit
 * places, 0: of all. */
must_use int heap_growth_load(struct heap_growth *g, const struct profile *p,
			      const struct heap_between *between, size_t limit,
			      struct err *e);
void heap_growth_fini(struct heap_growth *g);

/* What the place holds more, or less. */
int64_t heap_growth_net_bytes(const struct heap_growth_place *x);
int64_t heap_growth_net_blocks(const struct heap_growth_place *x);

#endif
