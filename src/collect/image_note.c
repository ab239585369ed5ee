/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/image_note.h"

#include <string.h>

#include "base/mem.h"
#include "base/reader.h"
#include "base/text.h"

#define IS_FOUND 1
#define IS_64BIT 2

/* An absent name is an empty one. */
static void add_name(struct buf *b, const char *name)
{
	buf_puts(b, name ? name : "");
	buf_u8(b, 0);
}

bool image_note_encode(const struct image_file *f, struct buf *ret)
{
	const struct executable *x = &f->executable;

	buf_clear(ret);
	buf_u8(ret,
	       (uint8_t)((f->is_found ? IS_FOUND : 0) | (x->is_64bit ? IS_64BIT : 0)));
	buf_u8(ret, f->kind);
	buf_u8(ret, f->flags);
	buf_u8(ret, f->build_id_size);
	buf_add(ret, f->build_id, f->build_id_size);
	buf_uleb(ret, x->layout);
	buf_uleb(ret, x->entry_offset);
	buf_uleb(ret, x->size_bytes);
	buf_uleb(ret, x->inode);
	buf_sleb(ret, x->mtime_s);
	add_name(ret, f->name);
	add_name(ret, f->path);
	add_name(ret, f->host_path);
	return ret->size <= IMAGE_NOTE_MAX;
}

static void read_executable(struct reader *r, struct executable *x)
{
	x->layout = (uint32_t)reader_uleb(r);
	x->entry_offset = reader_uleb(r);
	x->size_bytes = reader_uleb(r);
	x->inode = reader_uleb(r);
	x->mtime_s = reader_sleb(r);
}

static char *copy_of(const char *name)
{
	return *name ? xstrdup(name) : NULL;
}

int image_note_decode(const void *data, size_t size, struct image_file *ret,
		      struct err *e)
{
	struct reader r = reader_over(data, size);
	struct image_file f = { .fd = -1 };
	uint8_t is = reader_u8(&r);
	const char *name, *path, *host_path;
	const uint8_t *id;

	f.is_found = is & IS_FOUND;
	f.executable.is_64bit = is & IS_64BIT;
	f.kind = reader_u8(&r);
	f.flags = reader_u8(&r);
	f.build_id_size = reader_u8(&r);
	id = reader_bytes(&r, f.build_id_size);
	read_executable(&r, &f.executable);
	name = reader_cstr(&r);
	path = reader_cstr(&r);
	host_path = reader_cstr(&r);
	if (r.bad || reader_left(&r) || size > IMAGE_NOTE_MAX ||
	    f.build_id_size > MODEL_BUILD_ID_MAX || f.kind > IMAGE_LABEL)
		return err_set(e, ERR_FORMAT, "no note of an image");
	if (id)
		memcpy(f.build_id, id, f.build_id_size);
	f.name = xstrdup(name);
	f.path = copy_of(path);
	f.host_path = copy_of(host_path);
	*ret = f;
	return 0;
}
