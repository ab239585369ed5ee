/* SPDX-License-Identifier: Apache-2.0
 *
 * block_code - the instructions of a recording's basic blocks, decoded.
 *
 * Blocks whose code is not at hand, of images that are gone or were in memory, have none.
 */
#ifndef DWELL_ANALYZE_BLOCK_CODE_H
#define DWELL_ANALYZE_BLOCK_CODE_H

#include "analyze/block_graph.h"
#include "analyze/profile_data.h"
#include "insn/operation.h"

struct block_code {
	VEC(struct operation) operations; /* by address: neighbours are near */
	uint32_t *first, *n;		  /* [block]: its operations */
};

/* Needs the frames of all locations. */
must_use int block_code_read(struct block_code *ret, const struct profile *p,
			     const struct input *s, uint32_t source,
			     const struct block_graph *g, struct err *e);
void block_code_fini(struct block_code *c);

#endif
