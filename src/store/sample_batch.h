/* SPDX-License-Identifier: Apache-2.0
 *
 * sample_batch - samples waiting to become a block, in order or merged.
 *
 * Merged, samples that differ only in time are one with their counts and weights added.
 * Zero-initialise (set is_merged), release with sample_batch_fini().
 */
#ifndef DWELL_STORE_SAMPLE_BATCH_H
#define DWELL_STORE_SAMPLE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "store/column_set.h"
#include "store/model.h"

#define SAMPLE_BATCH_MAX (1u << 16)

struct sample_batch {
	bool is_merged;
	/* What the index is to say of the block: ids + 1, 0: nothing. */
	uint32_t of_event, first_image, last_image;
	uint64_t n_taken; /* samples, not rows: what is lost when this is dropped */
	VEC(struct model_sample) rows;
	uint32_t *slots; /* merged: row + 1, 0: free */
	VEC(uint64_t) column;
};

void sample_batch_fini(struct sample_batch *b);
void sample_batch_add(struct sample_batch *b, const struct model_sample *s);
bool sample_batch_is_full(const struct sample_batch *b);
/* The batch as payload of a samples block. */
void sample_batch_encode(struct sample_batch *b, struct squeeze *squeeze, struct buf *out,
			 struct format_summary *ret);
void sample_batch_clear(struct sample_batch *b);

#endif
