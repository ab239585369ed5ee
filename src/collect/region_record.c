/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/region_record.h"

#include <string.h>

#include "base/reader.h"

static const struct kind {
	size_t head, row; /* row 0: text */
} kinds[] = {
	{ sizeof(struct wire_regions_name), 0 },
	{ sizeof(struct wire_regions_nodes), sizeof(struct wire_regions_node) },
	{ sizeof(struct wire_regions_nodes), sizeof(struct wire_regions_slice) },
	{ sizeof(struct wire_regions_text), 0 },
	{ sizeof(struct wire_regions_text), 0 },
};

static const struct kind *kind_of(unsigned kind)
{
	return kind - WIRE_REGIONS_NAME < sizeof(kinds) / sizeof(kinds[0])
		       ? &kinds[kind - WIRE_REGIONS_NAME]
		       : NULL;
}

size_t region_record_head(unsigned kind)
{
	const struct kind *k = kind_of(kind);

	return k ? k->head : 0;
}

bool region_record_check(struct reader *r, unsigned kind, const void *head,
			 const uint8_t **ret_rows, size_t *ret_size)
{
	const struct kind *k = kind_of(kind);
	size_t size = reader_left(r);

	*ret_rows = reader_bytes(r, size);
	*ret_size = size;
	if (!k || r->bad)
		return false;
	if (!k->row)
		return size <= WIRE_REGIONS_TEXT_MAX && !memchr(*ret_rows, 0, size);
	return size == ((const struct wire_regions_nodes *)head)->n * k->row;
}

struct wire_regions_node region_record_node(const uint8_t *rows, uint32_t i)
{
	struct wire_regions_node n;

	memcpy(&n, rows + i * sizeof(n), sizeof(n));
	return n;
}

struct wire_regions_slice region_record_slice(const uint8_t *rows, uint32_t i)
{
	struct wire_regions_slice s;

	memcpy(&s, rows + i * sizeof(s), sizeof(s));
	return s;
}

/* What no program can have taken, of records that are damaged, is the most there is. */
uint64_t region_record_scale(const struct wire_regions_nodes *head, uint64_t v)
{
	double ns;

	if (!head->ticks)
		return v;
	ns = (double)v * (double)head->since_ns / (double)head->ticks;
	return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}
