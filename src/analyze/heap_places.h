/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_places - where memory was allocated: the stacks that have most of a column.
 *
 * Stacks that cannot be told apart by what is shown of them are one place.
 */
#ifndef DWELL_ANALYZE_HEAP_PLACES_H
#define DWELL_ANALYZE_HEAP_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/vec.h"

struct heap_place {
	uint64_t nth;		      /* of the profile's stacks, its first */
	uint64_t key;		      /* of what is shown of its frames */
	uint64_t weight;	      /* in the column that orders them */
	uint64_t *values;	      /* one per column */
	struct profile_frame *frames; /* innermost first */
	size_t n_frames;
};

struct heap_places {
	VEC(struct heap_place) all; /* the largest first */
	size_t n_found;		    /* places that have something of it */
	uint64_t total, shown;
};

/* Of what is shown of frames, the outermost first: calls of one line are one place. */
uint64_t heap_places_key(const struct profile_frame *frames, size_t n);
/* At most limit, 0: all.  What frames point to is the profile's. */
must_use int heap_places_load(struct heap_places *h, const struct profile *p,
			      size_t column, size_t limit, struct err *e);
void heap_places_fini(struct heap_places *h);
/* The column of an event of the first recording that has it, or SIZE_MAX. */
size_t heap_places_column(const struct profile *p, const char *event);

#endif
