/* SPDX-License-Identifier: Apache-2.0
 *
 * access_places - which places in memory a function's instructions accessed after
 * samples: in how many lines and pages, how far apart, how often elsewhere.
 */
#ifndef DWELL_ANALYZE_ACCESS_PLACES_H
#define DWELL_ANALYZE_ACCESS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/access_place.h"

struct access_places {
	VEC(struct access_place) places;
	uint32_t *of_step; /* [step]: place + 1, 0 none; NULL: no step has one */
	uint32_t n_steps;
};

void access_places_init(struct access_places *p, uint32_t n_steps);
void access_places_fini(struct access_places *p);
/* What a recording has of a step. */
void access_places_add(struct access_places *p, uint32_t step,
		       const struct model_access *a);
/* Of a step, or NULL: nothing is told of it. */
const struct access_place *access_places_of(const struct access_places *p, uint32_t step);

/* The most frequent stride, and which share of all it was; 0: nothing is known. */
double access_places_main_stride(const struct access_place *a, int64_t *ret);

#endif
