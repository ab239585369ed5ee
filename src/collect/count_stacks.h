/* SPDX-License-Identifier: Apache-2.0
 *
 * count_stacks - in which stack of one frame each counted instruction is, by where it is.
 *
 * Processes of one program execute the same instructions.  Each asks in the order of
 * their places, so that what is known is gone through once, instead of being hashed.
 */
#ifndef DWELL_COLLECT_COUNT_STACKS_H
#define DWELL_COLLECT_COUNT_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct count_stack {
	uint32_t image; /* id in the recording */
	uint32_t stack; /* the same */
	uint64_t off;
};

struct count_stacks {
	VEC(struct count_stack) all, fresh; /* by place */
	size_t at;			    /* of all: what was asked last is before it */
};

void count_stacks_fini(struct count_stacks *s);

/* The places of a process follow, in ascending order of image, then off. */
void count_stacks_begin(struct count_stacks *s);

/* 0: it is not known, and to be added before the next is asked for. */
uint32_t count_stacks_find(struct count_stacks *s, uint32_t image, uint64_t off);
void count_stacks_add(struct count_stacks *s, uint32_t image, uint64_t off,
		      uint32_t stack);

void count_stacks_end(struct count_stacks *s);

#endif
