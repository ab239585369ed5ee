/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_blocks.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

#define CAP_MIN 1024

void heap_blocks_fini(struct heap_blocks *b)
{
	free(b->at);
	*b = (struct heap_blocks){ 0 };
}

static size_t home(const struct heap_blocks *b, uint64_t address)
{
	return hash_u64(address) & (b->cap - 1);
}

/* Where the address is, or the empty place where it would be. */
static size_t find(const struct heap_blocks *b, uint64_t address)
{
	size_t i = home(b, address);

	while (b->at[i].address && b->at[i].address != address)
		i = (i + 1) & (b->cap - 1);
	return i;
}

static void grow(struct heap_blocks *b)
{
	struct heap_blocks larger = { .cap = b->cap ? b->cap * 2 : CAP_MIN,
				      .n = b->n,
				      .n_changes = b->n_changes };

	larger.at = xcalloc(larger.cap, sizeof(*larger.at));
	for (size_t i = 0; i < b->cap; i++)
		if (b->at[i].address)
			larger.at[find(&larger, b->at[i].address)] = b->at[i];
	free(b->at);
	*b = larger;
}

bool heap_blocks_add(struct heap_blocks *b, const struct heap_block *block,
		     struct heap_block *old)
{
	struct heap_block *place;

	if (b->n * 2 >= b->cap)
		grow(b);
	place = &b->at[find(b, block->address)];
	*old = *place;
	*place = *block;
	b->n += !old->address;
	b->n_changes++;
	return !old->address;
}

/* Whoever could not be at home because of a place that becomes empty moves up. */
static void close_gap(struct heap_blocks *b, size_t gap)
{
	size_t mask = b->cap - 1;

	for (size_t i = (gap + 1) & mask; b->at[i].address; i = (i + 1) & mask) {
		size_t wanted = home(b, b->at[i].address);

		if (((i - wanted) & mask) < ((i - gap) & mask))
			continue;
		b->at[gap] = b->at[i];
		gap = i;
	}
	b->at[gap].address = 0;
}

const struct heap_block *heap_blocks_find(const struct heap_blocks *b, uint64_t address)
{
	size_t i = b->cap && address ? find(b, address) : 0;

	return b->cap && address && b->at[i].address ? &b->at[i] : NULL;
}

bool heap_blocks_remove(struct heap_blocks *b, uint64_t address, struct heap_block *ret)
{
	size_t i = b->cap && address ? find(b, address) : 0;

	if (!b->cap || !address || !b->at[i].address)
		return false;
	*ret = b->at[i];
	close_gap(b, i);
	b->n--;
	b->n_changes++;
	return true;
}
