/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/debug_file.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "sym/form.h"
#include "sym/line_files.h"

/* Overlapping abbreviation tables would be parsed again and again. */
#define ABBREV_REPEATS_MAX 16

static const char *const section_names[DEBUG_N_SECTIONS] = {
	[DEBUG_INFO] = ".debug_info",
	[DEBUG_ABBREV] = ".debug_abbrev",
	[DEBUG_STR] = ".debug_str",
	[DEBUG_LINE] = ".debug_line",
	[DEBUG_LINE_STR] = ".debug_line_str",
	[DEBUG_RANGES] = ".debug_ranges",
	[DEBUG_RNGLISTS] = ".debug_rnglists",
	[DEBUG_ADDR] = ".debug_addr",
	[DEBUG_STR_OFFSETS] = ".debug_str_offsets",
	[DEBUG_ARANGES] = ".debug_aranges",
};

static struct abbrev_table *table_at(struct debug_file *f, uint64_t offset,
				     struct abbrev_sizes sizes)
{
	struct object_bytes b = f->sections[DEBUG_ABBREV];
	uint64_t key = hash_pair(offset, sizes.address | sizes.offset << 8 |
						 sizes.reference << 16);
	uint64_t *slot = map_slot(&f->abbrev_tables, key, NULL);
	size_t used;

	if (*slot)
		return (struct abbrev_table *)(uintptr_t)*slot;
	if (offset >= b.size || f->abbrev_bytes / ABBREV_REPEATS_MAX > b.size)
		return NULL;

	struct abbrev_table *t =
		abbrev_parse(b.data + offset, b.size - offset, sizes, &used);

	f->abbrev_bytes += used;
	*slot = (uintptr_t)t;
	return t;
}

bool debug_file_abbrevs(struct debug_unit *u)
{
	if (!u->abbrevs)
		u->abbrevs = table_at(u->file, u->part[DEBUG_ABBREV] + u->abbrev_offset,
				      u->sizes);
	return u->abbrevs;
}

struct reader debug_file_entries(const struct debug_unit *u, uint64_t offset)
{
	const uint8_t *data = u->file->sections[DEBUG_INFO].data;

	if (offset < u->root || offset > u->end)
		offset = u->end;
	return reader_over(data + offset, u->end - offset);
}

const char *debug_file_string(const struct debug_file *f, enum debug_section section,
			      uint64_t offset)
{
	struct object_bytes b = f->sections[section];

	if (offset >= b.size || !memchr(b.data + offset, 0, b.size - offset))
		return NULL;
	return (const char *)b.data + offset;
}

/* The values of the root entry, kept until the bases are known that decode them. */
struct root {
	struct form_value low, high, ranges, name, directory, split_name;
};

static void take_root_attr(struct debug_unit *u, struct root *root, unsigned name,
			   const struct form_value *v)
{
	switch (name) {
	case DW_AT_low_pc:
		root->low = *v;
		break;
	case DW_AT_high_pc:
		root->high = *v;
		break;
	case DW_AT_ranges:
		root->ranges = *v;
		break;
	case DW_AT_name:
		root->name = *v;
		break;
	case DW_AT_comp_dir:
		root->directory = *v;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		root->split_name = *v;
		break;
	case DW_AT_GNU_dwo_id:
		u->id = v->v;
		break;
	case DW_AT_stmt_list:
		u->has_line = form_is_offset(u, v);
		u->line_offset = v->v;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v->v;
		break;
	case DW_AT_str_offsets_base:
		u->str_offsets_base = v->v;
		break;
	case DW_AT_rnglists_base:
		u->rnglists_base = v->v;
		break;
	case DW_AT_GNU_ranges_base:
		u->ranges_base = v->v;
		break;
	}
}

static void decode_root(struct debug_unit *u, const struct root *root)
{
	u->name = form_string(u, &root->name);
	u->directory = form_string(u, &root->directory);
	u->split_name = form_string(u, &root->split_name);
	if (form_address(u, &root->low, &u->low_pc) && root->high.class &&
	    !form_address(u, &root->high, &u->high_pc))
		u->high_pc = u->low_pc + root->high.v;
	u->is_range_index = root->ranges.class == FORM_RANGE_INDEX;
	u->has_ranges = u->is_range_index || form_is_offset(u, &root->ranges);
	u->ranges = root->ranges.v;
}

/* Units of a split file have no bases of their own: they are right behind the header
 * of their part. */
static void default_bases(struct debug_unit *u)
{
	if (!u->file->is_split || u->version < 5)
		return;
	u->str_offsets_base = u->sizes.offset == 8 ? 16 : 8;
	u->rnglists_base = u->sizes.offset == 8 ? 20 : 12;
}

static void parse_root(struct debug_unit *u)
{
	struct reader r = debug_file_entries(u, u->root);
	struct root root = { 0 };
	const struct abbrev *a;

	default_bases(u);
	if (!debug_file_abbrevs(u))
		return;
	a = abbrev_find(u->abbrevs, reader_uleb(&r));
	if (!a)
		return;
	if (a->tag == DW_TAG_partial_unit || a->tag == DW_TAG_type_unit)
		u->is_partial = true;
	for (uint32_t i = 0; i < a->n_attrs && !r.bad; i++) {
		const struct abbrev_attr *attr = abbrev_attrs(u->abbrevs, a) + i;
		struct form_value v = form_read(u, attr, &r);

		take_root_attr(u, &root, attr->name, &v);
	}
	if (!r.bad)
		decode_root(u, &root);
}

static void parse_header_5(struct debug_unit *u, struct reader *r)
{
	uint8_t type = reader_u8(r);

	u->sizes.address = reader_u8(r);
	u->abbrev_offset = u->sizes.offset == 8 ? reader_u64le(r) : reader_u32le(r);
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		u->id = reader_u64le(r);
	if (type == DW_UT_type || type == DW_UT_split_type) {
		reader_skip(r, 8u + u->sizes.offset);
		u->is_partial = true;
	}
}

/* False at the end of what can be read. */
static bool parse_unit(struct debug_file *f, struct reader *r, struct debug_unit *u)
{
	uint64_t length;

	*u = (struct debug_unit){ .file = f, .offset = reader_offset(r) };
	length = reader_u32le(r);
	u->sizes.offset = 4;
	if (length == UINT32_MAX) {
		length = reader_u64le(r);
		u->sizes.offset = 8;
	}
	if (r->bad || length > reader_left(r))
		return false;
	u->end = reader_offset(r) + length;
	u->version = reader_u16le(r);
	if (u->version >= 5) {
		parse_header_5(u, r);
	} else {
		u->abbrev_offset =
			u->sizes.offset == 8 ? reader_u64le(r) : reader_u32le(r);
		u->sizes.address = reader_u8(r);
	}
	u->sizes.reference = u->version == 2 ? u->sizes.address : u->sizes.offset;
	u->root = reader_offset(r);
	reader_seek(r, u->end);
	return !r->bad && u->root <= u->end;
}

static bool is_readable(const struct debug_unit *u)
{
	return u->version >= 2 && u->version <= 5 &&
	       (u->sizes.address == 8 || u->sizes.address == 4);
}

static void parse_units(struct debug_file *f)
{
	struct object_bytes b = f->sections[DEBUG_INFO];
	struct reader r = reader_over(b.data, b.size);
	struct debug_unit u;

	while (reader_left(&r) && parse_unit(f, &r, &u))
		if (is_readable(&u))
			*vec_push(&f->units) = u;
}

static bool has_code_unit(struct object_bytes b)
{
	struct reader r = reader_over(b.data, b.size);
	struct debug_unit u;

	while (reader_left(&r) && parse_unit(NULL, &r, &u))
		if (!u.is_partial)
			return true;
	return false;
}

/* gcc writes each type unit of a .dwo to a section of its own; all are called the same,
 * and the last is that of the compile unit. */
static struct object_bytes split_info(struct object *o)
{
	uint64_t left = object_size(o); /* sections of damaged files overlap */

	for (size_t i = object_n_sections(o); i-- > 0;) {
		const struct object_section *s = object_section(o, i);
		struct object_bytes b;

		if (strcmp(s->name, ".debug_info.dwo") != 0)
			continue;
		if (s->size > left)
			break;
		left -= s->size;
		b = object_contents(o, s);
		if (has_code_unit(b))
			return b;
	}
	return object_named(o, ".debug_info.dwo");
}

static struct debug_file *open_sections(struct object *o, bool owns_object, bool is_split)
{
	struct debug_file *f = xcalloc(1, sizeof(*f));

	f->object = o;
	f->owns_object = owns_object;
	f->is_split = is_split;
	f->code_start = object_code_start(o);
	for (int i = 0; i < DEBUG_N_SECTIONS; i++) {
		char name[40];

		snprintf(name, sizeof(name), "%s%s", section_names[i],
			 is_split ? ".dwo" : "");
		f->sections[i] = object_named(o, name);
	}
	if (is_split)
		f->sections[DEBUG_INFO] = split_info(o);
	parse_units(f);
	return f;
}

struct debug_file *debug_file_open(struct object *o, bool owns_object,
				   struct debug_file *alternate)
{
	struct debug_file *f = open_sections(o, owns_object, false);

	f->alternate = alternate;
	for (size_t i = 0; i < f->units.n; i++)
		parse_root(&f->units.at[i]);
	return f;
}

struct debug_file *debug_file_open_split(struct object *o)
{
	return open_sections(o, true, true);
}

void debug_file_read_root(struct debug_unit *u)
{
	parse_root(u);
}

void debug_file_free(struct debug_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->units.n; i++)
		line_files_free(f->units.at[i].files);
	for (size_t i = 0; i < f->abbrev_tables.cap; i++)
		if (f->abbrev_tables.at[i].used)
			abbrev_free(
				(struct abbrev_table *)(uintptr_t)f->abbrev_tables.at[i]
					.value);
	map_fini(&f->abbrev_tables);
	vec_fini(&f->units);
	debug_file_free(f->alternate);
	if (f->owns_object)
		object_free(f->object);
	free(f);
}

struct debug_unit *debug_file_unit(struct debug_file *f, uint64_t offset)
{
	size_t low = search_split(f->units.n, i, f->units.at[i].offset <= offset);

	if (!low || offset >= f->units.at[low - 1].end)
		return NULL;
	return &f->units.at[low - 1];
}
