/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_blocks - the blocks of memory that a process has now, by address.
 *
 * A hash table with open addressing that leaves no tombstones.  Zero-initialise, release
 * with heap_blocks_fini().
 */
#ifndef DWELL_COLLECT_HEAP_BLOCKS_H
#define DWELL_COLLECT_HEAP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_block {
	uint64_t address; /* 0: none */
	uint64_t size_bytes;
	uint64_t time_ns;
	uint32_t site;
	uint32_t nth; /* allocation of the process, modulo 2^32 */
};

struct heap_blocks {
	struct heap_block *at;
	size_t n, cap; /* cap is a power of two, or 0 */
	uint64_t n_changes;
};

void heap_blocks_fini(struct heap_blocks *b);
/* At an address that is not 0.  False, and *old is what was there, when it was taken; it
 * is replaced. */
bool heap_blocks_add(struct heap_blocks *b, const struct heap_block *block,
		     struct heap_block *old);
/* NULL when none is there; until the next change. */
const struct heap_block *heap_blocks_find(const struct heap_blocks *b, uint64_t address);
/* False when none is there. */
bool heap_blocks_remove(struct heap_blocks *b, uint64_t address, struct heap_block *ret);

#endif
