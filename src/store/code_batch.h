/* SPDX-License-Identifier: Apache-2.0
 *
 * code_batch - basic blocks, edges, directions, accesses, anchors or gauges waiting to
 * become a block of the file, and such a block read back.
 *
 * Initialise with its layout, release with code_batch_fini().
 */
#ifndef DWELL_STORE_CODE_BATCH_H
#define DWELL_STORE_CODE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "store/column_set.h"

#define CODE_BATCH_MAX (1u << 16) /* rows */

struct code_batch_layout;

extern const struct code_batch_layout code_batch_basic_blocks, code_batch_edges,
	code_batch_directions, code_batch_accesses, code_batch_anchors, code_batch_gauges,
	code_batch_anchor_ways;

struct code_batch {
	const struct code_batch_layout *layout;
	struct buf rows; /* structs of model.h */
	size_t n;
	VEC(uint64_t) column;
};

void code_batch_fini(struct code_batch *b);
void code_batch_add(struct code_batch *b, const void *row);
bool code_batch_is_full(const struct code_batch *b);
/* first: id of the first row, of what has ids. */
void code_batch_encode(struct code_batch *b, uint64_t first, struct squeeze *squeeze,
		       struct buf *out, struct format_summary *ret);
void code_batch_clear(struct code_batch *b);

/* The rows refer only to what is known (counts by enum format_kind), as the head says. */
bool code_batch_is_known(const struct column_set *s, const uint32_t n[FORMAT_N_KINDS]);
/* Fills the rows from a parsed block.  False: malformed, or a row refers to what is not
 * known. */
bool code_batch_decode(struct code_batch *b, const struct column_set *s,
		       const uint32_t n[FORMAT_N_KINDS], struct buf *scratch);
/* Row i, borrowed until the next change. */
const void *code_batch_row(const struct code_batch *b, size_t i);

#endif
