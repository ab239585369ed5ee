/* SPDX-License-Identifier: Apache-2.0
 *
 * block_tiles - blocks that may overlap as pieces that do not.
 *
 * A piece begins wherever a block begins or ends, and was executed as often as all blocks
 * over it together.  The pieces cover a range without gaps; what no block is over was
 * executed never.
 */
#ifndef DWELL_ANALYZE_BLOCK_TILES_H
#define DWELL_ANALYZE_BLOCK_TILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct block_span {
	uint64_t start, end; /* addresses; end: behind it */
	uint64_t times;
};

/* Reaches to where the next one begins, the last to the end of the range. */
struct block_tile {
	uint64_t start;
	uint64_t times; /* UINT64_MAX: so often, or more */
};

struct block_tiles {
	VEC(struct block_tile) all; /* by address; the first begins with the range */
};

/* Of the range [from, to); what spans have outside of it is cut off. */
void block_tiles_make(struct block_tiles *ret, const struct block_span *spans, size_t n,
		      uint64_t from, uint64_t to);
void block_tiles_fini(struct block_tiles *t);

#endif
