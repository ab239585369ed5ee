/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/aranges.h"

static uint64_t read_address(struct reader *r, unsigned size)
{
	return size == 8 ? reader_u64le(r) : reader_u32le(r);
}

/* The pairs are aligned to their own size, counted from the start of the set. */
static bool each_of_set(struct debug_unit *u, struct reader *r, size_t start,
			unsigned size, aranges_fn *fn, void *ctx)
{
	size_t past = (reader_offset(r) - start) % (2 * size);

	if (past)
		reader_skip(r, 2 * size - past);
	while (reader_left(r) >= 2 * size) {
		uint64_t address = read_address(r, size), length = read_address(r, size);

		if (!address && !length)
			return true;
		if (length <= UINT64_MAX - address &&
		    !fn(ctx, u, address, address + length))
			return false;
	}
	return true;
}

/* False at the end, of the section or as the callback wants it. */
static bool parse_set(struct debug_file *f, struct reader *r, aranges_fn *fn, void *ctx)
{
	size_t start = reader_offset(r);
	uint64_t length = reader_u32le(r), unit;
	bool is_long = length == UINT32_MAX;
	struct reader set;
	struct debug_unit *u;
	unsigned size;

	if (is_long)
		length = reader_u64le(r);
	if (r->bad || length > reader_left(r))
		return false;
	set = *r;
	set.end = r->at + length;
	reader_skip(r, length);
	reader_skip(&set, 2); /* version */
	unit = is_long ? reader_u64le(&set) : reader_u32le(&set);
	size = reader_u8(&set);
	reader_skip(&set, 1); /* size of segment selectors */
	u = debug_file_unit(f, unit);
	if (set.bad || !u || u->offset != unit || u->has_ranges ||
	    (size != 8 && size != 4))
		return true;
	return each_of_set(u, &set, start, size, fn, ctx);
}

void aranges_each(struct debug_file *f, aranges_fn *fn, void *ctx)
{
	struct object_bytes b = f->sections[DEBUG_ARANGES];
	struct reader r = reader_over(b.data, b.size);

	while (reader_left(&r) && parse_set(f, &r, fn, ctx))
		;
}
