/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_finder.h"

#include <stdlib.h>

#define PAGE_SHIFT 12
/* Blocks are put into granules first, each of which is sorted at once: it has one for
 * each address at most. */
#define GRANULE_SHIFT 16
/* Places of a table, or blocks, that are looked at in one piece. */
#define PIECE 32768
/* Those that have more are looked for among themselves. */
#define LARGE_PAGES 64

void heap_finder_fini(struct heap_finder *f)
{
	vec_fini(&f->blocks);
	vec_fini(&f->large);
	map_fini(&f->pages);
	map_fini(&f->granules);
	vec_fini(&f->order);
}

uint64_t heap_finder_end_of(const struct heap_block *block)
{
	uint64_t size = block->size_bytes ? block->size_bytes : 1;

	return block->address + size < block->address ? UINT64_MAX
						      : block->address + size;
}

static int by_address(const void *a, const void *b)
{
	const struct heap_block *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* A page is that of the first block that is in it.  A process may say that a block is
 * larger than all memory. */
static void index_block(struct heap_finder *f, size_t i)
{
	const struct heap_block *b = &f->blocks.at[i];
	uint64_t last = (heap_finder_end_of(b) - 1) >> PAGE_SHIFT;

	if (last - (b->address >> PAGE_SHIFT) >= LARGE_PAGES) {
		*vec_push(&f->large) = i;
		last = b->address >> PAGE_SHIFT;
	}
	for (uint64_t page = b->address >> PAGE_SHIFT; page <= last; page++) {
		bool is_new;
		uint64_t *first = map_slot(&f->pages, page, &is_new);

		if (is_new)
			*first = i;
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Where the first block of each granule goes. */
static void lay_out(struct heap_finder *f)
{
	size_t next = 0;

	for (size_t i = 0; i < f->granules.cap; i++)
		if (f->granules.at[i].used)
			*vec_push(&f->order) = f->granules.at[i].key;
	if (f->order.n)
		qsort(f->order.at, f->order.n, sizeof(*f->order.at), by_value);
	vec_each(granule, &f->order) {
		uint64_t *place = map_find(&f->granules, *granule);
		size_t n = *place;

		*place = next;
		next += n;
	}
	vec_reserve(&f->blocks, next + 1);
	f->blocks.n = next;
}

static void copy_piece(struct heap_finder *f)
{
	const struct heap_blocks *from = f->from;
	size_t end = from->cap - f->at < PIECE ? from->cap : f->at + PIECE;

	for (; f->at < end; f->at++) {
		const struct heap_block *b = &from->at[f->at];
		uint64_t *place;

		if (!b->address)
			continue;
		place = map_slot(&f->granules, b->address >> GRANULE_SHIFT, NULL);
		if (f->is_counted)
			f->blocks.at[*place] = *b;
		++*place;
	}
	if (f->at < from->cap)
		return;
	f->at = 0;
	if (f->is_counted)
		f->from = NULL;
	else
		lay_out(f);
	f->is_counted = true;
}

/* Behind the copying a granule's place is behind its last block. */
static size_t sort_granule(struct heap_finder *f)
{
	size_t first = f->at ? *map_find(&f->granules, f->order.at[f->at - 1]) : 0;
	size_t end = *map_find(&f->granules, f->order.at[f->at]);

	qsort(f->blocks.at + first, end - first, sizeof(*f->blocks.at), by_address);
	for (size_t i = first; i < end; i++)
		index_block(f, i);
	f->at++;
	return end - first;
}

void heap_finder_begin(struct heap_finder *f, const struct heap_blocks *blocks)
{
	f->from = blocks;
}

void heap_finder_settle(struct heap_finder *f)
{
	while (f->from)
		copy_piece(f);
}

bool heap_finder_go_on(struct heap_finder *f)
{
	size_t n = 0;

	if (f->from) {
		copy_piece(f);
		return true;
	}
	while (f->at < f->order.n && n < PIECE)
		n += sort_granule(f);
	if (f->at < f->order.n)
		return true;
	if (f->blocks.n)
		f->end = heap_finder_end_of(&f->blocks.at[f->blocks.n - 1]);
	return false;
}

/* Index of the last block from lo on, and before hi, that begins at the address or
 * before; the one at lo does. */
static size_t last_at(const struct heap_finder *f, uint64_t address, size_t lo, size_t hi)
{
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->blocks.at[mid].address <= address)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static bool is_in(const struct heap_finder *f, size_t i, uint64_t address)
{
	const struct heap_block *b = &f->blocks.at[i];

	return address >= b->address && address < heap_finder_end_of(b);
}

static size_t find_large(const struct heap_finder *f, uint64_t address)
{
	size_t lo = 0, hi = f->large.n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->blocks.at[f->large.at[mid]].address <= address)
			lo = mid;
		else
			hi = mid;
	}
	return hi && is_in(f, f->large.at[lo], address) ? f->large.at[lo]
							: HEAP_FINDER_NONE;
}

size_t heap_finder_at(const struct heap_finder *f, uint64_t address)
{
	const uint64_t *first;
	size_t step = 1, n = f->blocks.n, i;

	if (!n || address < f->blocks.at[0].address || address >= f->end)
		return HEAP_FINDER_NONE;
	first = map_find(&f->pages, address >> PAGE_SHIFT);
	if (!first || f->blocks.at[*first].address > address)
		return find_large(f, address);
	/* Mostly few begin in a page. */
	while (*first + step < n && f->blocks.at[*first + step].address <= address)
		step *= 2;
	i = last_at(f, address, *first + step / 2, *first + step < n ? *first + step : n);
	return is_in(f, i, address) ? i : find_large(f, address);
}

size_t heap_finder_above(const struct heap_finder *f, uint64_t address)
{
	size_t i;

	if (!f->blocks.n || address < f->blocks.at[0].address)
		return 0;
	i = last_at(f, address, 0, f->blocks.n);
	return heap_finder_end_of(&f->blocks.at[i]) > address ? i : i + 1;
}
