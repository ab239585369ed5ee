/* SPDX-License-Identifier: Apache-2.0
 *
 * chronicle_place - in which function threads were in the cells of a chronicle.
 *
 * Of a cell it is the innermost one in which the thread was for more than half of the
 * time that it ran: a phase of the program where it did many things, and a function alone
 * where it did one.
 */
#ifndef DWELL_ANALYZE_CHRONICLE_PLACE_H
#define DWELL_ANALYZE_CHRONICLE_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

struct chronicle_place {
	struct intern *stacks; /* arrays of functions, the outermost first */
	struct map found;      /* cell and stack to the place in times */
	VEC(struct chronicle_place_time) times;
	VEC(uint32_t) path;
};

/* For so long a thread had a stack in a cell. */
struct chronicle_place_time {
	uint32_t cell, stack;
	double ns;
};

/* Called for each cell that a function is found for. */
typedef void chronicle_place_fn(void *ctx, uint32_t cell, uint32_t function, double ns);

void chronicle_place_init(struct chronicle_place *p);
void chronicle_place_fini(struct chronicle_place *p);
uint32_t chronicle_place_stack(struct chronicle_place *p, const struct profile_sample *s);
void chronicle_place_add(struct chronicle_place *p, uint32_t cell, uint32_t stack,
			 double ns);
void chronicle_place_find(struct chronicle_place *p, chronicle_place_fn *fn, void *ctx);

#endif
