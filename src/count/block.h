/* SPDX-License-Identifier: Apache-2.0
 *
 * block - instructions of the program that are executed one after the other.
 */
#ifndef DWELL_COUNT_BLOCK_H
#define DWELL_COUNT_BLOCK_H

#include <stdint.h>

#include "decode/x86_flow.h"
#include "decode/x86_op.h"

#define BLOCK_INSNS_MAX 64

struct block {
	uint64_t addr, end;
	unsigned n;
	enum x86_flow flow; /* of the last; ON: the next begins at end */
	uint64_t target;    /* of a direct jump, branch or call */
	struct x86_op ops[BLOCK_INSNS_MAX];
	uint16_t offs[BLOCK_INSNS_MAX + 1]; /* of each, and the end */
};

/* Empty if nothing can be executed at addr. */
void block_read(struct block *b, uint64_t addr);

/* The stack's pointer is taken from somewhere else than the stack: frames may be left. */
bool block_sets_stack(const struct block *b);

/* One instruction; false: none can be executed at addr, or, if it is to last, another may
 * come there. */
bool block_read_op(uint64_t addr, bool is_to_last, struct x86_op *ret);

#endif
