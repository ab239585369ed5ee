/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_delta - a stack as its difference from the thread's previous one.
 *
 * Consecutive samples share most outer frames, so a sample of a deep stack takes tens
 * of bytes.  Pure: no system calls, async-signal-safe.
 */
#ifndef DWELL_INJECT_STACK_DELTA_H
#define DWELL_INJECT_STACK_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/sampler.h"

struct stack_delta_frames {
	uint32_t n;
	uintptr_t pcs[WIRE_SAMPLER_DEPTH_MAX];	   /* innermost first */
	uint8_t exact[WIRE_SAMPLER_DEPTH_MAX / 8]; /* bit i: not a return address */
};

static inline bool stack_delta_is_exact(const struct stack_delta_frames *f, size_t i)
{
	return f->exact[i / 8] >> (i % 8) & 1;
}

/* Leave out the frames in [lo, hi). */
void stack_delta_drop(struct stack_delta_frames *f, uintptr_t lo, uintptr_t hi);

/* How many outermost frames both have in common. */
uint32_t stack_delta_shared(const struct stack_delta_frames *a,
			    const struct stack_delta_frames *b);

/* Write the frames inside the n_shared outermost ones; ret holds ten bytes for each.
 * Returns the number of bytes. */
size_t stack_delta_encode(const struct stack_delta_frames *f, uint32_t n_shared,
			  uint8_t *ret);

#endif
