/* SPDX-License-Identifier: Apache-2.0
 *
 * traced_image - a program image that a tracer is in: its stacks, and what each tracing
 * keeps of it.
 */
#ifndef DWELL_COLLECT_TRACED_IMAGE_H
#define DWELL_COLLECT_TRACED_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/timer_image.h"
#include "collect/tracing.h"

/* A stack of a thread: ids in the recording. */
struct traced_stack {
	uint32_t stack, thread;
};

struct gauges_cuts;

struct traced_image {
	struct timer_image *image;
	bool is_followed;
	uint32_t sums;	  /* their number as interim ones in the recording; 0: none yet */
	uint32_t thread;  /* id in the recording of the first */
	struct map names; /* of a stack in the target → its index */
	VEC(struct traced_stack) stacks; /* [0]: what has none, of the first thread */
	void *states[TRACING_N];
};

/* The index of a stack that a record names; 0: it has none. */
uint32_t traced_image_stack(const struct traced_image *t, uint64_t name);
/* The ends of intervals that are heard of, or NULL. */
const struct gauges_cuts *traced_image_cuts(const struct traced_image *t);

extern const struct timer_tracing traced_image_tracing;

#endif
