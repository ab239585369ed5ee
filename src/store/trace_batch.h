/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_batch - trace events waiting to become a block, and such a block read back.
 *
 * Zero-initialise, release with trace_batch_fini().
 */
#ifndef DWELL_STORE_TRACE_BATCH_H
#define DWELL_STORE_TRACE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "store/column_set.h"
#include "store/model.h"

#define TRACE_BATCH_MAX (1u << 14)

struct trace_batch {
	VEC(struct model_trace) rows;
	unsigned n_values; /* value columns that any row needs */
	VEC(uint64_t) column;
};

void trace_batch_fini(struct trace_batch *b);
void trace_batch_add(struct trace_batch *b, const struct model_trace *t,
		     unsigned n_values);
bool trace_batch_is_full(const struct trace_batch *b);
void trace_batch_encode(struct trace_batch *b, struct squeeze *squeeze, struct buf *out,
			struct format_summary *ret);
void trace_batch_clear(struct trace_batch *b);
/* Fills the rows from a parsed block.  False: malformed. */
bool trace_batch_decode(struct trace_batch *b, const struct column_set *s,
			struct buf *scratch);

#endif
