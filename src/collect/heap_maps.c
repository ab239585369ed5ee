/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_maps.h"

#include <stdbool.h>
#include <string.h>

#include "base/search.h"

void heap_maps_fini(struct heap_maps *m)
{
	heap_ledger_fini(&m->ledger);
	vec_fini(&m->ranges);
	vec_fini(&m->gone);
	vec_fini(&m->back);
}

static uint64_t end_of(const struct heap_block *range)
{
	return range->address + range->size_bytes;
}

/* Index of the first range that ends above the address. */
static size_t first_above(const struct heap_maps *m, uint64_t address)
{
	return search_split(m->ranges.n, i, end_of(&m->ranges.at[i]) <= address);
}

static void insert(struct heap_maps *m, uint64_t time_ns, size_t i,
		   const struct heap_block *range)
{
	vec_push(&m->ranges);
	memmove(&m->ranges.at[i + 1], &m->ranges.at[i],
		(m->ranges.n - 1 - i) * sizeof(*range));
	m->ranges.at[i] = *range;
	heap_ledger_bring(&m->ledger, time_ns, range);
}

static struct heap_block erase(struct heap_maps *m, uint64_t time_ns, size_t i)
{
	struct heap_block range = m->ranges.at[i];

	m->ranges.n--;
	memmove(&m->ranges.at[i], &m->ranges.at[i + 1],
		(m->ranges.n - i) * sizeof(range));
	heap_ledger_end(&m->ledger, time_ns, &range);
	return range;
}

static struct heap_block part(const struct heap_block *range, uint64_t from, uint64_t to)
{
	struct heap_block piece = *range;

	piece.address = from;
	piece.size_bytes = to - from;
	return piece;
}

static void keep_moved(struct heap_maps *m, const struct heap_block *piece)
{
	m->moved[m->next_moved++ % HEAP_MAPS_MOVED] = *piece;
}

static void cut(struct heap_maps *m, uint64_t time_ns, uint64_t address, uint64_t end,
		bool is_moved)
{
	size_t i = first_above(m, address);

	while (i < m->ranges.n && m->ranges.at[i].address < end) {
		struct heap_block old = erase(m, time_ns, i);
		uint64_t from = old.address > address ? old.address : address;
		uint64_t to = end_of(&old) < end ? end_of(&old) : end;
		struct heap_block gone = part(&old, from, to);

		*vec_push(&m->gone) = gone;
		if (is_moved)
			keep_moved(m, &gone);
		if (old.address < from) {
			struct heap_block left = part(&old, old.address, from);

			insert(m, time_ns, i++, &left);
		}
		if (end_of(&old) > to) {
			struct heap_block right = part(&old, to, end_of(&old));

			insert(m, time_ns, i++, &right);
		}
	}
}

static void begin(struct heap_maps *m)
{
	vec_clear(&m->gone);
	vec_clear(&m->back);
}

/* Where a hostile size would go beyond the last address. */
static uint64_t end_at(uint64_t address, uint64_t size_bytes)
{
	return size_bytes > UINT64_MAX - address ? UINT64_MAX : address + size_bytes;
}

void heap_maps_take(struct heap_maps *m, uint64_t time_ns, uint32_t site,
		    uint64_t address, uint64_t size_bytes)
{
	uint64_t end = end_at(address, size_bytes);
	struct heap_block range = { address, end - address, time_ns, site, 0 };

	begin(m);
	if (address == end)
		return;
	cut(m, time_ns, address, end, false);
	heap_ledger_count(&m->ledger, site, range.size_bytes);
	insert(m, time_ns, first_above(m, address), &range);
}

void heap_maps_give(struct heap_maps *m, uint64_t time_ns, uint64_t address,
		    uint64_t size_bytes)
{
	begin(m);
	cut(m, time_ns, address, end_at(address, size_bytes), false);
}

void heap_maps_move(struct heap_maps *m, uint64_t time_ns, uint64_t address,
		    uint64_t size_bytes)
{
	begin(m);
	cut(m, time_ns, address, end_at(address, size_bytes), true);
}

void heap_maps_stay(struct heap_maps *m, uint64_t time_ns, uint64_t address,
		    uint64_t size_bytes)
{
	uint64_t end = end_at(address, size_bytes);

	begin(m);
	for (size_t i = 0; i < HEAP_MAPS_MOVED; i++) {
		struct heap_block piece = m->moved[i];

		if (!piece.size_bytes || piece.address < address || end_of(&piece) > end)
			continue;
		m->moved[i].size_bytes = 0;
		cut(m, time_ns, piece.address, end_of(&piece), false);
		insert(m, time_ns, first_above(m, piece.address), &piece);
		*vec_push(&m->back) = piece;
	}
}
