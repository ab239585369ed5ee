/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/split_unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/own.h"
#include "sym/locate.h"

#define CANDIDATES 3
#define NONE	   UINT64_MAX

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
	const struct image *image;
	const char *debug_path;
	VEC(struct debug_file *) files;
	struct map by_name; /* hash of a .dwo's name -> index of its file + 1, or NONE */
	struct debug_file *package;
	bool is_package_tried;
};

/* Where a file may be, best first; NULL where there is no such place. */
struct places {
	char *path[CANDIDATES];
};

static void places_fini(struct places *p)
{
	for (int i = 0; i < CANDIDATES; i++)
		free(p->path[i]);
}

struct split_units *split_unit_new(const struct image *im, const char *debug_path)
{
	struct split_units *s = xcalloc(1, sizeof(*s));

	s->image = im;
	s->debug_path = debug_path;
	return s;
}

void split_unit_free(struct split_units *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files.n; i++)
		debug_file_free(s->files.at[i]);
	vec_fini(&s->files);
	map_fini(&s->by_name);
	free(s);
}

static struct places package_places(const struct split_units *s)
{
	const struct sym_image_ref *ref = &s->image->ref;
	const char *sysroot = s->image->options->sysroot;
	struct places p = { 0 };

	p.path[0] = xasprintf("%s.dwp", s->debug_path);
	if (sysroot)
		p.path[1] = xasprintf("%s%s.dwp", sysroot, ref->path);
	p.path[2] = xasprintf("%s.dwp", ref->path);
	return p;
}

/* What the debug information calls the file: where the compiler put it. */
static char *split_name(const struct debug_unit *skeleton)
{
	const char *name = skeleton->split_name;

	return *name == '/' || !skeleton->directory
		       ? xstrdup(name)
		       : xasprintf("%s/%s", skeleton->directory, name);
}

static struct places file_places(const struct split_units *s,
				 const struct debug_unit *skeleton, const char *name)
{
	const char *sysroot = s->image->options->sysroot;
	const char *binary = s->image->ref.path, *end = strrchr(binary, '/');
	const char *slash = strrchr(skeleton->split_name, '/');
	struct places p = { 0 };

	if (sysroot)
		p.path[0] = xasprintf("%s%s", sysroot, name);
	p.path[1] = xstrdup(name);
	if (end)
		p.path[2] = xasprintf("%.*s/%s", (int)(end - binary), binary,
				      slash ? slash + 1 : skeleton->split_name);
	return p;
}

/* The first of the places that opens as an ELF file. */
static struct object *open_first(const struct places *p)
{
	struct object *o = NULL;

	for (int i = 0; i < CANDIDATES; i++)
		if (p->path[i] && object_open(p->path[i], &o, NULL) == 0)
			return o;
	return NULL;
}

static const char *first_readable(const struct places *p)
{
	for (int i = 0; i < CANDIDATES; i++)
		if (p->path[i] && access(p->path[i], R_OK) == 0)
			return p->path[i];
	return NULL;
}

static struct debug_file *take(struct split_units *s, struct object *o)
{
	if (!o)
		return NULL;
	return *vec_push(&s->files) = debug_file_open_split(o);
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

static struct debug_file *open_package(struct split_units *s)
{
	own(places_fini) struct places p = package_places(s);
	struct object *o = locate_blob(s->image, "package", NULL);

	return take(s, o ? o : open_first(&p));
}

static struct debug_unit *try_package(struct split_units *s, struct debug_unit *skeleton)
{
	if (!s->is_package_tried) {
		s->is_package_tried = true;
		s->package = open_package(s);
	}
	return s->package ? find_in_package(s->package, skeleton) : NULL;
}

/* Link-time optimisation puts several units into one file. */
static struct debug_unit *try_file(struct split_units *s, struct debug_unit *skeleton)
{
	own(freep) char *name = split_name(skeleton);
	uint64_t *slot = map_slot(&s->by_name, hash_bytes(name, strlen(name)), NULL);

	if (!*slot) {
		own(places_fini) struct places p = file_places(s, skeleton, name);
		struct object *o = locate_blob(s->image, "split", name);

		*slot = take(s, o ? o : open_first(&p)) ? s->files.n : NONE;
	}
	return *slot == NONE ? NULL : find_in_file(s->files.at[*slot - 1], skeleton);
}

struct debug_unit *split_unit_find(struct split_units *s, struct debug_unit *skeleton)
{
	if (skeleton->is_split_tried || !skeleton->split_name)
		return skeleton->split;
	skeleton->is_split_tried = true;
	skeleton->split = try_package(s, skeleton);
	if (!skeleton->split)
		skeleton->split = try_file(s, skeleton);
	return skeleton->split;
}

static bool has_skeleton(const struct debug_file *f)
{
	for (size_t i = 0; i < f->units.n; i++)
		if (f->units.at[i].split_name)
			return true;
	return false;
}

void split_unit_each_file(struct split_units *s, const struct debug_file *skeletons,
			  sym_file_fn *visit, void *ctx)
{
	own(places_fini) struct places package = package_places(s);
	own(map_fini) struct map seen = { 0 };
	const char *path = first_readable(&package);

	if (!has_skeleton(skeletons))
		return;
	if (path) {
		visit(ctx, "package", path, path);
		return;
	}
	for (size_t i = 0; i < skeletons->units.n; i++) {
		const struct debug_unit *u = &skeletons->units.at[i];
		own(freep) char *name = u->split_name ? split_name(u) : NULL;
		own(places_fini) struct places p = { 0 };
		bool is_new = false;

		if (name)
			map_slot(&seen, hash_bytes(name, strlen(name)), &is_new);
		if (!is_new)
			continue;
		p = file_places(s, u, name);
		path = first_readable(&p);
		if (path)
			visit(ctx, "split", name, path);
	}
}
