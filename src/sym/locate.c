/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/locate.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/reader.h"
#include "sym/debug_server.h"

static const char *const default_debug_dirs[] = { "/usr/lib/debug", NULL };

static const char *const *debug_dirs(const struct image *im)
{
	return im->options->debug_dirs ? im->options->debug_dirs : default_debug_dirs;
}

bool locate_has_debug(const struct object *o)
{
	const struct object_section *s = object_find(o, ".debug_info");

	return s && s->type != SHT_NOBITS && s->size;
}

static bool is_wanted(const struct object *o, struct object_bytes build_id)
{
	struct object_bytes have = object_build_id(o);

	return !build_id.size || (have.size == build_id.size &&
				  memcmp(have.data, build_id.data, have.size) == 0);
}

/* A candidate is taken when it is an ELF file of the right build-id. */
static struct object *try_path(const char *path, struct object_bytes build_id,
			       bool *ret_is_other)
{
	own(object_freep) struct object *o = NULL;

	if (!path || !*path || object_open(path, &o, NULL) < 0)
		return NULL;
	if (is_wanted(o, build_id))
		return steal(&o);
	if (ret_is_other)
		*ret_is_other = true;
	return NULL;
}

struct object *locate_blob(const struct image *im, const char *kind, const char *name)
{
	own(buf_fini) struct buf bytes = { 0 };
	struct object *o = NULL;

	if (!image_blob(im, kind, name, &bytes) ||
	    object_over(&bytes, im->ref.path, &o, NULL) < 0)
		return NULL;
	return o;
}

static struct object *try_blob(const struct image *im, const char *kind,
			       struct object_bytes build_id)
{
	own(object_freep) struct object *o = locate_blob(im, kind, NULL);

	return o && is_wanted(o, build_id) ? steal(&o) : NULL;
}

/* DIR/.build-id/ab/cdef…SUFFIX in each of the directories. */
static struct object *try_build_id(const char *const *dirs, struct object_bytes id,
				   const char *suffix)
{
	struct object *o = NULL;
	char hex[2 * OBJECT_BUILD_ID_MAX + 1];

	if (id.size < 2 || id.size > OBJECT_BUILD_ID_MAX)
		return NULL;
	for (size_t i = 0; i < id.size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id.data[i]);
	for (const char *const *dir = dirs; dir && *dir && !o; dir++) {
		own(freep) char *path =
			xasprintf("%s/.build-id/%.2s/%s%s", *dir, hex, hex + 2, suffix);

		o = try_path(path, id, NULL);
	}
	return o;
}

static struct object *try_server(const struct image *im, enum debug_server_kind kind,
				 struct object_bytes id, const char **problem)
{
	own(freep) char *path = NULL;

	if (im->options->no_debuginfod || !id.size)
		return NULL;
	path = debug_server_find(kind, id.data, id.size, problem);
	return try_path(path, id, NULL);
}

/* What the recorder saw of a file without build-id tells it from a later one at its
 * path; copies have times of their own. */
static bool is_unchanged(const struct image *im, const struct object *o, bool is_copy)
{
	const struct sym_image_ref *ref = &im->ref;

	if (ref->build_id_size || !ref->size_bytes)
		return true;
	return object_size(o) == ref->size_bytes &&
	       (is_copy || !ref->mtime_s || object_mtime_s(o) == ref->mtime_s);
}

static struct object *find_binary(const struct image *im, struct object_bytes id,
				  bool *is_other, const char **problem)
{
	const char *sysroot = im->options->sysroot;
	own(freep) char *below =
		sysroot ? xasprintf("%s/%s", sysroot, im->ref.path) : NULL;
	const char *candidates[] = { below, im->ref.host_path, im->ref.path };
	struct object *o = try_blob(im, "elf", id);

	for (size_t i = 0; !o && i < sizeof(candidates) / sizeof(candidates[0]); i++) {
		o = try_path(candidates[i], id, is_other);
		if (!o || is_unchanged(im, o, candidates[i] == below))
			continue;
		*is_other = true;
		object_free(o);
		o = NULL;
	}
	if (!o)
		o = try_build_id(debug_dirs(im), id, "");
	if (!o)
		o = try_server(im, DEBUG_SERVER_BINARY, id, problem);
	return o ? o : try_build_id(im->options->symbol_dirs, id, "");
}

struct debug_link {
	const char *name;
	uint32_t crc;
};

static bool read_debug_link(struct object *o, struct debug_link *ret)
{
	struct object_bytes b = object_named(o, ".gnu_debuglink");
	struct reader r = reader_over(b.data, b.size);

	ret->name = reader_cstr(&r);
	reader_skip(&r, -reader_offset(&r) & 3);
	ret->crc = reader_u32le(&r);
	return !r.bad && ret->name && *ret->name && !strchr(ret->name, '/');
}

static bool has_crc(const char *path, uint32_t want)
{
	own(fclosep) FILE *f = fopen(path, "re");
	uLong crc = crc32(0, NULL, 0);
	own(freep) uint8_t *part = xrealloc(NULL, 1 << 16, 1);
	size_t n;

	if (!f)
		return false;
	while ((n = fread(part, 1, 1 << 16, f)) > 0)
		crc = crc32(crc, part, (uInt)n);
	return crc == want;
}

/* Equal build-ids are proof enough and save reading the whole file. */
static struct object *try_debug_link(const char *path, const struct debug_link *link,
				     struct object_bytes id)
{
	own(object_freep) struct object *o = NULL;

	if (object_open(path, &o, NULL) < 0)
		return NULL;
	if (id.size && object_build_id(o).size ? is_wanted(o, id)
					       : has_crc(path, link->crc))
		return steal(&o);
	return NULL;
}

static struct object *find_by_link(const struct image *im, struct object *binary,
				   struct object_bytes id)
{
	struct debug_link link;
	const char *path = im->ref.path;
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) : 0;
	const char *sysroot = im->options->sysroot ? im->options->sysroot : "";
	struct object *o = NULL;

	if (!read_debug_link(binary, &link))
		return NULL;
	for (int i = 0; i < 2 && !o; i++) {
		own(freep) char *near = xasprintf("%s%.*s/%s%s", sysroot, n, path,
						  i ? ".debug/" : "", link.name);

		o = try_debug_link(near, &link, id);
	}
	for (const char *const *dir = debug_dirs(im); *dir && !o; dir++) {
		own(freep) char *far = xasprintf("%s%.*s/%s", *dir, n, path, link.name);

		o = try_debug_link(far, &link, id);
	}
	return o;
}

static struct object *find_debug(const struct image *im, struct object *binary,
				 struct object_bytes id, const char **problem)
{
	struct object *o = NULL;

	if (binary && locate_has_debug(binary))
		return binary;
	o = try_blob(im, "debug", id);
	if (!o)
		o = try_build_id(debug_dirs(im), id, ".debug");
	if (!o && binary)
		o = find_by_link(im, binary, id);
	return o ? o : try_server(im, DEBUG_SERVER_DEBUG, id, problem);
}

void locate_image(const struct image *im, struct locate_result *ret)
{
	struct object_bytes id = { im->ref.build_id, im->ref.build_id_size };
	bool is_other = false;

	*ret = (struct locate_result){ 0 };
	ret->binary = find_binary(im, id, &is_other, &ret->server_problem);
	ret->is_replaced = !ret->binary && is_other;
	if (!id.size && ret->binary)
		id = object_build_id(ret->binary);
	ret->debug = find_debug(im, ret->binary, id, &ret->server_problem);
}

void locate_fini(struct locate_result *r)
{
	if (r->debug != r->binary)
		object_free(r->debug);
	object_free(r->binary);
	*r = (struct locate_result){ 0 };
}

/* Relative names are relative to the directory of the file that carries the link. */
struct object *locate_alternate(const struct image *im, struct object *o)
{
	struct object_bytes b = object_named(o, ".gnu_debugaltlink");
	struct reader r = reader_over(b.data, b.size);
	const char *name = reader_cstr(&r);
	struct object_bytes id = { r.at, reader_left(&r) };
	const char *slash = strrchr(object_path(o), '/');
	int n = slash ? (int)(slash - object_path(o)) + 1 : 0;
	struct object *alternate;
	const char *problem;

	if (!name || !*name || !id.size)
		return NULL;

	own(freep) char *path = *name == '/'
					? xstrdup(name)
					: xasprintf("%.*s%s", n, object_path(o), name);

	alternate = try_blob(im, "alternate", id);
	if (!alternate)
		alternate = try_path(path, id, NULL);
	if (!alternate)
		alternate = try_build_id(debug_dirs(im), id, ".debug");
	return alternate ? alternate : try_server(im, DEBUG_SERVER_DEBUG, id, &problem);
}
