/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_maps - memory that a process maps itself: what lies where, and its sums.
 *
 * Parts may be given back, and what is mapped over replaces what was there; a range is a
 * block of the ledger, whose sites are stacks as for other blocks.  What the process did
 * not map while it was observed is not known.  Zero-initialise.
 */
#ifndef DWELL_COLLECT_HEAP_MAPS_H
#define DWELL_COLLECT_HEAP_MAPS_H

#include <stdint.h>

#include "base/vec.h"
#include "collect/heap_ledger.h"

/* Pieces given up for another place, so that a failure can bring them back. */
#define HEAP_MAPS_MOVED 64

struct heap_maps {
	struct heap_ledger ledger;		  /* its own blocks are not used */
	VEC(struct heap_block) ranges;		  /* ascending, disjoint */
	struct heap_block moved[HEAP_MAPS_MOVED]; /* in a circle */
	unsigned next_moved;
	/* By the last call: pieces that are not there any more, or are there again. */
	VEC(struct heap_block) gone;
	VEC(struct heap_block) back;
};

void heap_maps_fini(struct heap_maps *m);
void heap_maps_take(struct heap_maps *m, uint64_t time_ns, uint32_t site,
		    uint64_t address, uint64_t size_bytes);
void heap_maps_give(struct heap_maps *m, uint64_t time_ns, uint64_t address,
		    uint64_t size_bytes);
/* The same, for another size or place; and that this failed. */
void heap_maps_move(struct heap_maps *m, uint64_t time_ns, uint64_t address,
		    uint64_t size_bytes);
void heap_maps_stay(struct heap_maps *m, uint64_t time_ns, uint64_t address,
		    uint64_t size_bytes);

#endif
