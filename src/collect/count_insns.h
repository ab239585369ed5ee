/* SPDX-License-Identifier: Apache-2.0
 *
 * count_insns - how often each instruction of a block was executed.
 *
 * As often as the block was entered, less what left it before that: threads that were
 * ended in a system call, instructions that trapped.
 */
#ifndef DWELL_COLLECT_COUNT_INSNS_H
#define DWELL_COLLECT_COUNT_INSNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/count_flow.h"

struct count_insns_leave {
	uint32_t block;
	uint64_t off; /* in the block: from there on it was not executed */
	uint64_t n;
};

struct count_insns {
	VEC(struct count_insns_leave) leaves; /* by block */
	VEC(uint16_t) offs;		      /* of the instructions of one block */
};

void count_insns_init(struct count_insns *c, const struct count_flow_input *in);
void count_insns_fini(struct count_insns *c);

/* How often block i was begun, if it was entered so often: not if it was left at once. */
int64_t count_insns_begun(const struct count_insns *c, uint32_t i, int64_t entered);

/* off: in the block; n at least 1. */
typedef void count_insns_fn(void *ctx, uint32_t off, uint64_t n);

/* Each instruction of block i, b, that was executed, which was entered so often.  code:
 * its bytes.  False: they are none of this block, or NULL; its first instruction stands
 * for all then. */
bool count_insns_each(struct count_insns *c, uint32_t i, const struct count_file_block *b,
		      int64_t entered, const uint8_t *code, count_insns_fn *fn,
		      void *ctx);

#endif
