/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/range_list.h"

#include <dwarf.h>

struct list {
	const struct debug_unit *u;
	struct reader r;
	uint64_t base;
	range_list_fn *fn;
	void *ctx;
};

/* Code that the linker left out (a COMDAT copy, --gc-sections) is described at 0, 1 or
 * at the end of the address space, depending on the linker.  All are outside the code. */
bool range_list_one(const struct debug_unit *u, uint64_t start, uint64_t end,
		    range_list_fn *fn, void *ctx)
{
	const struct debug_unit *owner = u->skeleton ? u->skeleton : u;

	if (start >= end || start < owner->file->code_start)
		return true;
	return fn(ctx, start, end);
}

static bool give(struct list *l, uint64_t start, uint64_t end)
{
	return range_list_one(l->u, start, end, l->fn, l->ctx);
}

static uint64_t read_address(struct list *l)
{
	return l->u->sizes.address == 8 ? reader_u64le(&l->r) : reader_u32le(&l->r);
}

static void each_old(struct list *l)
{
	uint64_t all_ones = l->u->sizes.address == 8 ? UINT64_MAX : UINT32_MAX;

	while (reader_left(&l->r)) {
		uint64_t start = read_address(l), end = read_address(l);

		if (l->r.bad || (!start && !end))
			return;
		if (start == all_ones)
			l->base = end;
		else if (!give(l, l->base + start, l->base + end))
			return;
	}
}

static uint64_t read_indexed(struct list *l)
{
	uint64_t address = 0;

	if (!form_address_at(l->u, reader_uleb(&l->r), &address))
		l->r.bad = true;
	return address;
}

/* False at the end of the list. */
static bool step_new(struct list *l)
{
	uint64_t start, end;

	switch (reader_u8(&l->r)) {
	case DW_RLE_base_addressx:
		l->base = read_indexed(l);
		return true;
	case DW_RLE_base_address:
		l->base = read_address(l);
		return true;
	case DW_RLE_startx_endx:
		start = read_indexed(l);
		end = read_indexed(l);
		break;
	case DW_RLE_startx_length:
		start = read_indexed(l);
		end = start + reader_uleb(&l->r);
		break;
	case DW_RLE_offset_pair:
		start = l->base + reader_uleb(&l->r);
		end = l->base + reader_uleb(&l->r);
		break;
	case DW_RLE_start_end:
		start = read_address(l);
		end = read_address(l);
		break;
	case DW_RLE_start_length:
		start = read_address(l);
		end = start + reader_uleb(&l->r);
		break;
	default: /* DW_RLE_end_of_list */
		return false;
	}
	return !l->r.bad && give(l, start, end);
}

static bool list_offset(const struct debug_unit *u, uint64_t index, uint64_t *ret)
{
	struct object_bytes b = u->file->sections[DEBUG_RNGLISTS];
	struct reader r = reader_over(b.data, b.size);
	uint64_t base = u->part[DEBUG_RNGLISTS] + u->rnglists_base;

	if (index > b.size || base > b.size)
		return false;
	reader_seek(&r, base + index * u->sizes.offset);
	*ret = base + (u->sizes.offset == 8 ? reader_u64le(&r) : reader_u32le(&r));
	return !r.bad;
}

void range_list_each(const struct debug_unit *u, uint64_t value, bool is_index,
		     range_list_fn *fn, void *ctx)
{
	/* Before DWARF 5 a split unit's ranges stayed in the linked file. */
	const struct debug_unit *owner = u->skeleton && u->version < 5 ? u->skeleton : u;
	enum debug_section section = u->version < 5 ? DEBUG_RANGES : DEBUG_RNGLISTS;
	struct object_bytes b = owner->file->sections[section];
	struct list l = { .u = u, .fn = fn, .ctx = ctx };

	l.r = reader_over(b.data, b.size);
	l.base = u->skeleton ? u->skeleton->low_pc : u->low_pc;
	if (is_index && !list_offset(u, value, &value))
		return;
	if (!is_index && u->version >= 5)
		value += u->part[DEBUG_RNGLISTS];
	if (owner != u)
		value += owner->ranges_base;
	reader_seek(&l.r, value);
	if (u->version < 5)
		each_old(&l);
	else
		while (reader_left(&l.r) && step_new(&l))
			;
}
