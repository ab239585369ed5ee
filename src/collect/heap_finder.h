/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_finder - which of a process' blocks, as they were at one moment, an address is in.
 *
 * Zero-initialise, release with heap_finder_fini().
 */
#ifndef DWELL_COLLECT_HEAP_FINDER_H
#define DWELL_COLLECT_HEAP_FINDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/heap_blocks.h"

struct heap_finder {
	VEC(struct heap_block) blocks; /* by address */
	struct map pages;	       /* → index of the first block in it */
	VEC(size_t) large;	       /* indices of those of many pages */
	uint64_t end;		       /* of the last block */
};

#define HEAP_FINDER_NONE SIZE_MAX

void heap_finder_fini(struct heap_finder *f);
/* Of what is there now; it is copied. */
void heap_finder_begin(struct heap_finder *f, const struct heap_blocks *blocks);
/* A block of no bytes counts as one. */
uint64_t heap_finder_end_of(const struct heap_block *block);
size_t heap_finder_at(const struct heap_finder *f, uint64_t address);
/* The first block that ends behind the address, or how many blocks there are. */
size_t heap_finder_above(const struct heap_finder *f, uint64_t address);

#endif
