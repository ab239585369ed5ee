/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_finder - which of a process' blocks, as they were at one moment, an address is in.
 *
 * Ten million blocks take a second to be put in order, so this is done in pieces.
 * Zero-initialise, release with heap_finder_fini().
 */
#ifndef DWELL_COLLECT_HEAP_FINDER_H
#define DWELL_COLLECT_HEAP_FINDER_H

#include <stdbool.h>
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
	/* While it is made: */
	const struct heap_blocks *from; /* borrowed; NULL: everything is copied */
	struct map granules; /* → how many begin there, then where the next goes */
	VEC(uint64_t) order; /* granules by address */
	bool is_counted;
	size_t at; /* of what is next in what is done now */
};

#define HEAP_FINDER_NONE SIZE_MAX

void heap_finder_fini(struct heap_finder *f);
/* Of what is there now.  It is borrowed, and not to be changed, until it is copied. */
void heap_finder_begin(struct heap_finder *f, const struct heap_blocks *blocks);
/* Copies what is not copied yet, at once. */
void heap_finder_settle(struct heap_finder *f);
/* Some of it, up to some milliseconds; false: all is done, and addresses can be looked
 * for. */
bool heap_finder_go_on(struct heap_finder *f);
/* A block of no bytes counts as one. */
uint64_t heap_finder_end_of(const struct heap_block *block);
size_t heap_finder_at(const struct heap_finder *f, uint64_t address);
/* The first block that ends behind the address, or how many blocks there are. */
size_t heap_finder_above(const struct heap_finder *f, uint64_t address);

#endif
