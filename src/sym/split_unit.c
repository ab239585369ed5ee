/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/split_unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"

/* Section numbers of a package's index, before and in DWARF 5. */
static const enum debug_section parts_4[] = {
	[1] = DEBUG_INFO,
	[3] = DEBUG_ABBREV,
	[4] = DEBUG_LINE,
	[6] = DEBUG_STR_OFFSETS,
};
static const enum debug_section parts_5[] = {
	[1] = DEBUG_INFO,	 [3] = DEBUG_ABBREV,   [4] = DEBUG_LINE,
	[6] = DEBUG_STR_OFFSETS, [8] = DEBUG_RNGLISTS,
};

struct split_units {
	const char *binary_path, *sysroot;
	VEC(struct debug_file *) files;
	struct debug_file *package;
	bool is_package_tried;
};

struct split_units *split_unit_new(const char *binary_path, const char *sysroot)
{
	struct split_units *s = xcalloc(1, sizeof(*s));

	s->binary_path = binary_path;
	s->sysroot = sysroot;
	return s;
}

void split_unit_free(struct split_units *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files.n; i++)
		debug_file_free(s->files.at[i]);
	vec_fini(&s->files);
	free(s);
}

static struct debug_file *open_file(struct split_units *s, const char *path)
{
	struct object *o = NULL;
	struct debug_file *f;

	if (object_open(path, &o, NULL) < 0)
		return NULL;
	f = debug_file_open_split(o);
	*vec_push(&s->files) = f;
	return f;
}

/* Ties both together; the root can be read only now that the bases are known. */
static bool adopt(struct debug_unit *u, struct debug_unit *skeleton)
{
	if (u->skeleton)
		return false; /* belongs to another already */
	u->skeleton = skeleton;
	u->sizes.address = skeleton->sizes.address;
	debug_file_read_root(u);
	if (u->id == skeleton->id)
		return true;
	u->skeleton = NULL;
	return false;
}

static struct debug_unit *find_in_file(struct debug_file *f, struct debug_unit *skeleton)
{
	for (size_t i = 0; f && i < f->units.n; i++)
		if (!f->units.at[i].is_partial && adopt(&f->units.at[i], skeleton))
			return &f->units.at[i];
	return NULL;
}

/* The index of a package: a hash table of ids, then a table of offsets per unit. */
struct package_index {
	struct reader r;
	uint32_t version, n_columns, n_units, n_slots;
	size_t hashes, rows, offsets;
};

static bool read_index(struct debug_file *f, struct package_index *ret)
{
	struct object_bytes b = object_named(f->object, ".debug_cu_index");
	struct reader r = reader_over(b.data, b.size);

	ret->version = reader_u32le(&r) & 0xffff;
	ret->n_columns = reader_u32le(&r);
	ret->n_units = reader_u32le(&r);
	ret->n_slots = reader_u32le(&r);
	ret->hashes = reader_offset(&r);
	ret->rows = ret->hashes + 8 * (size_t)ret->n_slots;
	ret->offsets = ret->rows + 4 * (size_t)ret->n_slots;
	ret->r = reader_over(b.data, b.size);
	return !r.bad && ret->n_columns && ret->n_columns <= 16 &&
	       ret->n_slots <= b.size / 12 && !(ret->n_slots & (ret->n_slots - 1));
}

static uint64_t word_at(const struct package_index *x, size_t offset, size_t size)
{
	struct reader r = x->r;

	reader_seek(&r, offset);
	return size == 8 ? reader_u64le(&r) : reader_u32le(&r);
}

/* Row of an id, counted from 1; 0: not there. */
static uint64_t find_row(const struct package_index *x, uint64_t id)
{
	uint64_t mask = x->n_slots - 1u, at = id & mask;
	uint64_t step = (id >> 32 & mask) | 1;

	for (uint32_t i = 0; i < x->n_slots; i++, at = (at + step) & mask) {
		uint64_t row = word_at(x, x->rows + 4 * at, 4);

		if (!row || row > x->n_units)
			return 0;
		if (word_at(x, x->hashes + 8 * at, 8) == id)
			return row;
	}
	return 0;
}

static struct debug_unit *find_in_package(struct debug_file *f,
					  struct debug_unit *skeleton)
{
	struct package_index x;
	uint64_t part[DEBUG_N_SECTIONS] = { 0 }, row;
	struct debug_unit *u;

	if (!read_index(f, &x) || !(row = find_row(&x, skeleton->id)))
		return NULL;

	const enum debug_section *parts = x.version >= 5 ? parts_5 : parts_4;
	size_t n = x.version >= 5 ? sizeof(parts_5) / sizeof(parts_5[0])
				  : sizeof(parts_4) / sizeof(parts_4[0]);

	for (uint32_t i = 0; i < x.n_columns; i++) {
		uint64_t section = word_at(&x, x.offsets + 4 * (size_t)i, 4);

		if (section < n && (parts[section] || section == 1))
			part[parts[section]] = word_at(
				&x, x.offsets + 4 * ((size_t)row * x.n_columns + i), 4);
	}
	u = debug_file_unit(f, part[DEBUG_INFO]);
	if (!u || u->skeleton)
		return NULL;
	part[DEBUG_INFO] = 0;
	for (int i = 0; i < DEBUG_N_SECTIONS; i++)
		u->part[i] = part[i];
	return adopt(u, skeleton) ? u : NULL;
}

static struct debug_unit *try_package(struct split_units *s, struct debug_unit *skeleton)
{
	if (!s->is_package_tried) {
		own(freep) char *path = xasprintf("%s.dwp", s->binary_path);

		s->is_package_tried = true;
		s->package = open_file(s, path);
	}
	return s->package ? find_in_package(s->package, skeleton) : NULL;
}

static struct debug_unit *try_file(struct split_units *s, struct debug_unit *skeleton,
				   const char *root)
{
	bool is_absolute = *skeleton->split_name == '/' || !skeleton->directory;
	own(freep) char *path =
		xasprintf("%s%s%s%s", root, is_absolute ? "" : skeleton->directory,
			  is_absolute ? "" : "/", skeleton->split_name);

	return find_in_file(open_file(s, path), skeleton);
}

struct debug_unit *split_unit_find(struct split_units *s, struct debug_unit *skeleton)
{
	if (skeleton->is_split_tried || !skeleton->split_name)
		return skeleton->split;
	skeleton->is_split_tried = true;
	skeleton->split = try_package(s, skeleton);
	if (!skeleton->split && s->sysroot)
		skeleton->split = try_file(s, skeleton, s->sysroot);
	if (!skeleton->split)
		skeleton->split = try_file(s, skeleton, "");
	return skeleton->split;
}
