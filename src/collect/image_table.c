/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/image_table.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/image_file.h"
#include "collect/symbol_store.h"
#include "collect/tracker.h"

struct image {
	uint32_t id;
	char *path;
	int fd; /* -1: closed, or never found */
	struct unwind_image *unwind;
	struct image_table_traits traits;
};

struct image_table {
	struct writer *writer;
	struct symbol_store *symbols; /* or NULL */
	struct intern *keys;	      /* id - 1 = index of the image */
	struct buf key;
	VEC(struct image) images;
};

struct image_table *image_table_new(struct writer *w)
{
	struct image_table *t = xcalloc(1, sizeof(*t));

	t->writer = w;
	t->keys = intern_new();
	return t;
}

void image_table_free(struct image_table *t)
{
	if (!t)
		return;
	vec_each(i, &t->images) {
		unwind_image_free(i->unwind);
		closep(&i->fd);
		free(i->path);
	}
	vec_fini(&t->images);
	buf_fini(&t->key);
	intern_free(t->keys);
	free(t);
}

void image_table_freep(struct image_table **t)
{
	image_table_free(*t);
}

void image_table_keep_symbols(struct image_table *t, struct symbol_store *symbols)
{
	t->symbols = symbols;
}

static void add_image(struct image_table *t, uint32_t pid, const struct tracker_mmap *m)
{
	struct model_image model;
	struct image_file file;

	image_file_open(&file, pid, m);
	image_file_model(&file, t->writer, &model);
	*vec_push(&t->images) = (struct image){
		.id = writer_image(t->writer, &model),
		.path = xstrdup(file.name),
		.fd = file.fd,
		.traits = { .is_32bit = file.is_found && !file.executable.is_64bit,
			    .is_static = file.executable.is_static,
			    .is_setid = file.executable.is_setid,
			    .whose = own_library_of(&file),
			    .entry_offset = file.executable.entry_offset },
	};
	if (t->symbols)
		symbol_store_keep(t->symbols, &file);
	file.fd = -1; /* the table's now */
	image_file_fini(&file);
}

uint32_t image_table_of(struct image_table *t, uint32_t pid, const struct tracker_mmap *m)
{
	if (image_file_is_anonymous(m->path))
		return IMAGE_TABLE_ANONYMOUS;

	buf_clear(&t->key);
	buf_add(&t->key, m->build_id, m->build_id_size);
	if (!m->build_id_size && strcmp(m->path, "[vdso]") != 0)
		buf_u64le(&t->key, m->inode);
	buf_add(&t->key, m->path, image_file_name_length(m->path));

	uint32_t key = intern_add(t->keys, (char *)t->key.data, t->key.size);

	if (key > t->images.n)
		add_image(t, pid, m);
	return key - 1;
}

uint32_t image_table_id(const struct image_table *t, uint32_t image)
{
	return t->images.at[image].id;
}

const char *image_table_path(const struct image_table *t, uint32_t image)
{
	return t->images.at[image].path;
}

int image_table_file(const struct image_table *t, uint32_t image)
{
	return t->images.at[image].fd;
}

struct unwind_image *image_table_unwind(struct image_table *t, uint32_t image)
{
	struct image *i = &t->images.at[image];

	if (i->fd < 0)
		return i->unwind;
	if (unwind_image_open(i->fd, i->path, &i->unwind, NULL) < 0)
		i->unwind = NULL;
	close(i->fd);
	i->fd = -1;
	return i->unwind;
}

struct image_table_traits image_table_traits(const struct image_table *t, uint32_t image)
{
	return t->images.at[image].traits;
}

uint32_t image_table_count(const struct image_table *t)
{
	return (uint32_t)t->images.n;
}
