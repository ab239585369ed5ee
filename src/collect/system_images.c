/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_images.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "collect/image_file.h"
#include "collect/symbol_store.h"
#include "collect/system_rows.h"
#include "collect/tracker.h"
#include "unwind/offline.h"
#include "unwind/row_table_file.h"

#define MISSES_MAX 16
/* Of the kernel's own numbers of devices. */
#define KERNEL_MINOR_BITS 20
#define KERNEL_MINOR_MASK ((UINT32_C(1) << KERNEL_MINOR_BITS) - 1)

struct system_image {
	struct image_file file;
	uint32_t number;
	uint32_t id; /* in the recording, MODEL_NONE: not in it yet */
	bool is_known, is_wanted;
	unsigned n_missed; /* so many processes ended too early */
};

struct system_images {
	struct system_rows *rows;
	struct symbol_store *symbols; /* or NULL */
	struct writer *writer;
	VEC(struct system_image) all; /* by their slots */
	VEC(uint32_t) wanted;	      /* their rows */
};

static void forget(struct system_image *i)
{
	if (i->is_known)
		image_file_fini(&i->file);
	i->is_known = false;
}

struct system_images *system_images_new(struct system_rows *rows)
{
	struct system_images *s = xcalloc(1, sizeof(*s));

	s->rows = rows;
	/* The one that no record tells of. */
	system_images_meet(s, &(struct stack_record_image){ .image = STACK_RECORD_VDSO });
	return s;
}

void system_images_free(struct system_images *s)
{
	if (!s)
		return;
	vec_each(i, &s->all)
		forget(i);
	vec_fini(&s->all);
	vec_fini(&s->wanted);
	free(s);
}

void system_images_freep(struct system_images **s)
{
	system_images_free(*s);
}

static struct system_image *slot(struct system_images *s, uint32_t image)
{
	uint32_t at = STACK_ROWS_SLOT(image);
	struct system_image *i;

	while (s->all.n <= at)
		*vec_push(&s->all) = (struct system_image){ .id = MODEL_NONE };
	i = &s->all.at[at];
	if (i->number != image) {
		forget(i);
		*i = (struct system_image){ .number = image, .id = MODEL_NONE };
	}
	return i;
}

/* NULL: it is not known by that number. */
static const struct system_image *find_slot(const struct system_images *s, uint32_t image)
{
	uint32_t at = STACK_ROWS_SLOT(image);

	return at < s->all.n && s->all.at[at].number == image ? &s->all.at[at] : NULL;
}

/* "c\0b\0a\0" is /a/b/c. */
static void join_parts(const struct stack_record_image *r, char *path, size_t cap)
{
	size_t end = r->path_bytes, n = 0;

	*path = '\0';
	while (end && n < cap) {
		size_t start = end - 1;

		while (start && r->path[start - 1])
			start--;
		n += (size_t)snprintf(path + n, cap - n, "/%.*s", (int)(end - 1 - start),
				      r->path + start);
		end = start;
	}
}

/* By what name the process maps it, as it is told when the process is gone. */
static void name_of(const struct stack_record_image *r, char *path, size_t cap)
{
	char link[96];
	ssize_t n = -1;

	snprintf(link, sizeof(link), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, r->pid,
		 r->start, r->end);
	if (r->end)
		n = readlink(link, path, cap - 1);
	if (n > 0)
		path[n] = '\0';
	else
		join_parts(r, path, cap);
}

static void find(struct image_file *file, const struct stack_record_image *r)
{
	char path[PATH_MAX];
	struct tracker_mmap m = { .start = r->start,
				  .end = r->end,
				  .file_offset = r->file_offset,
				  .path = path,
				  .inode = r->inode,
				  .device = makedev(r->device >> KERNEL_MINOR_BITS,
						    r->device & KERNEL_MINOR_MASK),
				  .is_exec = true };

	if (r->image == STACK_RECORD_VDSO)
		strcpy(path, "[vdso]");
	else
		name_of(r, path, sizeof(path));
	image_file_open(file, r->pid, &m);
	if (!file->is_found && image_file_is_anonymous(path))
		file->kind = IMAGE_ANON;
}

static void hex(const struct image_file *f, char *s)
{
	*s = '\0';
	for (size_t i = 0; i < f->build_id_size; i++)
		sprintf(s + 2 * i, "%02x", f->build_id[i]);
}

static int get_rows(const struct image_file *f, struct unwind_image *u,
		    struct row_table **ret)
{
	char key[2 * MODEL_BUILD_ID_MAX + 1];

	hex(f, key);
	if (*key)
		return row_table_file_get(u, NULL, key, ret, NULL);
	return row_table_build(u, ret, NULL);
}

/* Its process may have ended before we looked: the next one is asked, some times. */
static bool is_worth_asking_again(struct system_image *i)
{
	return !i->file.is_found && i->file.kind == IMAGE_ELF &&
	       i->n_missed++ < MISSES_MAX;
}

/* What has no table, or is no file of code, is walked by frame pointers. */
static void load_rows(struct system_images *s, uint32_t image, const struct image_file *f)
{
	own(unwind_image_freep) struct unwind_image *u = NULL;
	own(row_table_freep) struct row_table *t = NULL;
	struct err why;

	if (f->fd < 0 || unwind_image_open(f->fd, f->name, &u, NULL) < 0 ||
	    get_rows(f, u, &t) < 0)
		system_rows_set_none(s->rows, image);
	else if (system_rows_load(s->rows, image, t, u, &why) < 0)
		return; /* it has said so to the kernel's side */
}

void system_images_meet(struct system_images *s, const struct stack_record_image *r)
{
	struct image_file file;
	struct system_image *i;

	if (r->image >= STACK_ROWS_NUMBERS_MAX)
		return;
	i = slot(s, r->image);
	find(&file, r);
	if (!i->is_known || file.is_found) {
		forget(i);
		i->file = file;
		i->is_known = true;
	} else {
		image_file_fini(&file);
	}
	if (!i->is_wanted) /* two CPUs may ask at once */
		*vec_push(&s->wanted) = r->image;
	i->is_wanted = true;
}

void system_images_keep_symbols(struct system_images *s, struct symbol_store *symbols)
{
	s->symbols = symbols;
}

bool system_images_load(struct system_images *s)
{
	struct system_image *i;
	uint32_t image;

	if (!s->wanted.n)
		return false;
	image = s->wanted.at[--s->wanted.n];
	if (!find_slot(s, image))
		return true;
	i = slot(s, image);
	i->is_wanted = false;
	if (is_worth_asking_again(i))
		system_rows_ask_again(s->rows, image);
	else
		load_rows(s, image, &i->file);
	if (s->symbols)
		symbol_store_keep(s->symbols, &i->file);
	closep(&i->file.fd);
	i->file.fd = -1;
	return true;
}

void system_images_forget(struct system_images *s, uint32_t image)
{
	if (!find_slot(s, image))
		return;
	forget(slot(s, image));
	s->all.at[STACK_ROWS_SLOT(image)] = (struct system_image){ .id = MODEL_NONE };
}

void system_images_begin(struct system_images *s, struct writer *w)
{
	s->writer = w;
	vec_each(i, &s->all)
		i->id = MODEL_NONE;
}

uint32_t system_images_id(struct system_images *s, uint32_t image)
{
	struct system_image *i = slot(s, image);
	struct model_image model = { .kind = IMAGE_UNKNOWN };

	if (i->id != MODEL_NONE)
		return i->id;
	if (i->is_known)
		image_file_model(&i->file, s->writer, &model);
	else
		model.path = writer_string(s->writer, "[unknown]");
	i->id = writer_image(s->writer, &model);
	return i->id;
}

uint64_t system_images_entry(const struct system_images *s, uint32_t image)
{
	const struct system_image *i = find_slot(s, image);

	return i && i->is_known ? i->file.executable.entry_offset : 0;
}

const char *system_images_path(const struct system_images *s, uint32_t image)
{
	const struct system_image *i = find_slot(s, image);

	if (!i || !i->is_known)
		return NULL;
	return i->file.path ? i->file.path : i->file.name;
}

uint32_t system_images_n_gone(const struct system_images *s)
{
	uint32_t n = 0;

	vec_each(i, &s->all)
		n += i->is_known && !i->file.is_found && i->file.kind == IMAGE_ELF;
	return n;
}
