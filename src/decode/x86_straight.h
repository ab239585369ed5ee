/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_straight - code between two places that nothing jumped out of.
 *
 * Where a processor keeps the branches that it took, the code between one and the next
 * was gone over straight: the conditional branches there were not taken.  Freestanding.
 */
#ifndef DWELL_DECODE_X86_STRAIGHT_H
#define DWELL_DECODE_X86_STRAIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/forward.h"
#include "decode/x86_flow.h"

#define X86_STRAIGHT_MAX       32 /* branches */
#define X86_STRAIGHT_MAX_INSNS 512

struct x86_straight_branch {
	uint64_t addr, next; /* it went on there */
};

struct x86_straight {
	unsigned n;
	struct x86_straight_branch not_taken[X86_STRAIGHT_MAX];
};

/* false: what begins at `from` does not lead there, or by more than is gone over; `to`
 * itself is not looked at. */
bool x86_straight(uint64_t from, uint64_t to, forward_code_fn *code, void *ctx,
		  struct x86_straight *ret);
/* Where the instruction goes on; false: it is not known. */
bool x86_straight_flow(uint64_t addr, forward_code_fn *code, void *ctx,
		       enum x86_flow *ret);

#endif
