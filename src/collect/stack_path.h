/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_path - the last stack of a thread, from the outermost frame inwards.
 *
 * Consecutive stacks of a thread share most of their outer frames: what is equal needs
 * no look-up of locations and stacks.  Zero-initialise, release with stack_path_fini().
 */
#ifndef DWELL_COLLECT_STACK_PATH_H
#define DWELL_COLLECT_STACK_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct stack_step {
	uint64_t pc;
	uint32_t flags; /* distinguishes frames with the same pc */
	uint32_t stack; /* id in the recording */
};

struct stack_path {
	uint64_t version; /* of the address space that the steps were resolved in */
	VEC(struct stack_step) steps;
};

void stack_path_fini(struct stack_path *p);
/* Start over unless the address space is still the same one. */
void stack_path_begin(struct stack_path *p, uint64_t version);
/* The stack of frame i, if frame i is what it was (all outer ones were); else forgets
 * frame i and all inner ones and returns UINT32_MAX. */
uint32_t stack_path_match(struct stack_path *p, size_t i, uint64_t pc, uint32_t flags);
/* Frame i, the innermost so far. */
void stack_path_push(struct stack_path *p, uint64_t pc, uint32_t flags, uint32_t stack);

#endif
