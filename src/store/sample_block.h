/* SPDX-License-Identifier: Apache-2.0
 *
 * sample_block - the samples of one block, by columns, as many of them as are wanted.
 *
 * Zero-initialise, reuse for the next block, release with sample_block_fini().
 */
#ifndef DWELL_STORE_SAMPLE_BLOCK_H
#define DWELL_STORE_SAMPLE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/format.h"

enum sample_column {
	SAMPLE_TIME = 1,
	SAMPLE_EVENT = 2,
	SAMPLE_THREAD = 4,
	SAMPLE_CPU = 8,
	SAMPLE_STACK = 16,
	SAMPLE_COUNT = 32,
	SAMPLE_WEIGHT = 64,
	SAMPLE_ALL = 127,
};

/* Columns not asked for are NULL. */
struct sample_block {
	size_t n;
	const uint64_t *time_ns, *weight;
	const uint32_t *event, *thread, *cpu, *stack, *count;
	struct buf raw, stored, columns; /* the block's memory */
};

struct column_set;

void sample_block_fini(struct sample_block *b);
/* The rows of a parsed payload.  False: malformed, or an id is not below the count of
 * its dictionary (n[kind]); the block is empty then. */
bool sample_block_decode(struct sample_block *b, const struct column_set *s,
			 unsigned columns /* enum sample_column */,
			 const uint32_t n[FORMAT_N_KINDS]);

#endif
