/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_images.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/image_file.h"
#include "collect/row_cache.h"
#include "collect/row_compiler.h"
#include "collect/symbol_store.h"
#include "collect/system_notes.h"
#include "collect/system_rows.h"
#include "collect/told_path.h"
#include "collect/tracker.h"

#define MISSES_MAX 16
#define KEY_SIZE   (2 * MODEL_BUILD_ID_MAX + 16)
/* On disk: the rows of some ten thousand programs. */
#define CACHE_BYTES (UINT64_C(256) << 20)
/* Up to that size its rows are there in some milliseconds. */
#define SMALL_BYTES (INT64_C(4) << 20)
/* Of the kernel's own numbers of devices. */
#define KERNEL_MINOR_BITS 20
#define KERNEL_MINOR_MASK ((UINT32_C(1) << KERNEL_MINOR_BITS) - 1)

struct system_image {
	struct image_file file;
	uint32_t number;
	uint32_t id; /* in the recording, MODEL_NONE: not in it yet */
	bool is_known, is_wanted;
	enum own_library_code whose;
	unsigned n_missed; /* so many processes ended too early */
};

struct image_numbers {
	VEC(uint32_t) all;
};

struct system_images {
	struct system_rows *rows;
	struct row_cache *cache;
	struct row_compiler *compiler;
	struct symbol_store *symbols; /* or NULL */
	struct system_notes *notes;   /* or NULL */
	struct writer *writer;
	VEC(struct system_image) all; /* by their slots */
	struct image_numbers wanted;  /* their rows */
	struct image_numbers
		uncompiled; /* those whose rows are not kept, of small files */
};

static void know(struct system_image *i, const struct image_file *file)
{
	i->file = *file;
	i->is_known = true;
	i->whose = own_library_of(file);
}

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
	s->cache = row_cache_new(NULL, CACHE_BYTES, row_pack_maker());
	s->compiler = row_compiler_new(s->cache);
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
	vec_fini(&s->wanted.all);
	vec_fini(&s->uncompiled.all);
	row_compiler_free(s->compiler);
	row_cache_free(s->cache);
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
		told_path_join(r, path, cap);
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

/* Its process may have ended before we looked: the next one is asked, some times. */
static bool is_worth_asking_again(struct system_image *i)
{
	return !i->file.is_found && i->file.kind == IMAGE_ELF &&
	       i->n_missed++ < MISSES_MAX;
}

/* A build-id can be forged: what is kept of a user's file serves that user's alone, and
 * nothing is of files that others can write to. */
static void key_of(const struct image_file *f, char key[KEY_SIZE])
{
	struct stat st;

	*key = '\0';
	if (!f->build_id_size || fstat(f->fd, &st) != 0 ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)))
		return;
	for (size_t i = 0; i < f->build_id_size; i++)
		key += sprintf(key, "%02x", f->build_id[i]);
	if (st.st_uid)
		sprintf(key, "-%u", (unsigned)st.st_uid);
}

/* What has no table, or is no file of code, is walked by frame pointers. */
static void place_rows(struct system_images *s, uint32_t image, struct row_pack *p)
{
	if (system_rows_load(s->rows, image, p, NULL) < 0)
		return; /* it has said so to the kernel's side */
}

/* False: its rows are to be compiled. */
static bool load_kept(struct system_images *s, uint32_t image, const struct image_file *f)
{
	own(row_pack_fini) struct row_pack p = { 0 };
	char key[KEY_SIZE];

	key_of(f, key);
	if (!*key || !row_cache_find(s->cache, key, f->executable.layout, &p))
		return false;
	place_rows(s, image, &p);
	return true;
}

/* key: where its key is put. */
static struct row_compiler_file to_compile(const struct system_image *i,
					   char key[KEY_SIZE])
{
	key_of(&i->file, key);
	return (struct row_compiler_file){ .image = i->number,
					   .fd = i->file.fd,
					   .name = i->file.name,
					   .key = key,
					   .layout = i->file.executable.layout };
}

static void place_compiled(struct system_images *s, uint32_t image, int rc,
			   struct row_pack *p)
{
	if (rc < 0)
		system_rows_set_none(s->rows, image);
	else
		place_rows(s, image, p);
}

static void compile(struct system_images *s, const struct system_image *i)
{
	own(row_pack_fini) struct row_pack p = { 0 };
	char key[KEY_SIZE];
	struct row_compiler_file f = to_compile(i, key);

	place_compiled(s, i->number, row_compiler_run(s->compiler, &f, &p), &p);
}

/* Beside all that is small; false: it is to be done here. */
static bool hand_over(struct system_images *s, const struct system_image *i)
{
	char key[KEY_SIZE];
	struct row_compiler_file f;
	struct stat st;

	if (fstat(i->file.fd, &st) != 0 || st.st_size <= SMALL_BYTES)
		return false;
	f = to_compile(i, key);
	return row_compiler_add(s->compiler, &f);
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
		know(i, &file);
		if (s->notes)
			system_notes_put(s->notes, r->image, &i->file);
	} else {
		image_file_fini(&file);
	}
	if (!i->is_wanted) /* two CPUs may ask at once */
		*vec_push(&s->wanted.all) = r->image;
	i->is_wanted = true;
}

void system_images_keep_symbols(struct system_images *s, struct symbol_store *symbols)
{
	s->symbols = symbols;
}

/* Of two files whose numbers have one slot, the other one's is not current. */
static void on_note(void *ctx, uint32_t image, struct image_file *f)
{
	struct system_images *s = ctx;
	uint32_t at = STACK_ROWS_SLOT(image);
	bool is_taken = at < s->all.n && s->all.at[at].is_known;
	struct system_image *i;

	if (image >= STACK_ROWS_NUMBERS_MAX ||
	    (is_taken && !system_rows_is_current(s->rows, image))) {
		image_file_fini(f);
		return;
	}
	i = slot(s, image);
	forget(i);
	know(i, f);
}

void system_images_keep_notes(struct system_images *s, struct system_notes *notes)
{
	s->notes = notes;
	system_notes_each(notes, on_note, s);
}

/* Nothing more will be read of it. */
static void close_file(struct system_images *s, struct system_image *i)
{
	if (s->symbols)
		symbol_store_keep(s->symbols, &i->file);
	closep(&i->file.fd);
	i->file.fd = -1;
	i->is_wanted = false;
}

/* NULL: it is nobody's any more. */
static struct system_image *next_of(struct system_images *s, struct image_numbers *list)
{
	uint32_t image = list->all.at[--list->all.n];
	struct system_image *i = find_slot(s, image) ? slot(s, image) : NULL;

	return i && i->is_wanted ? i : NULL;
}

static void load_or_queue(struct system_images *s, struct system_image *i)
{
	system_rows_set_data_end(s->rows, i->number,
				 executable_data_end(&i->file.executable));
	if (is_worth_asking_again(i)) {
		system_rows_ask_again(s->rows, i->number);
	} else if (i->file.fd < 0) {
		system_rows_set_none(s->rows, i->number);
	} else if (!load_kept(s, i->number, &i->file)) {
		if (!hand_over(s, i))
			*vec_push(&s->uncompiled.all) = i->number;
		return;
	}
	close_file(s, i);
}

/* Its number may be nobody's meanwhile, or another file's. */
static bool place_next(struct system_images *s)
{
	struct row_compiler_result r;
	struct system_image *i;

	if (!row_compiler_take(s->compiler, &r))
		return false;
	i = find_slot(s, r.image) ? slot(s, r.image) : NULL;
	if (i && i->is_wanted) {
		place_compiled(s, r.image, r.rc, &r.pack);
		close_file(s, i);
	}
	row_pack_fini(&r.pack);
	return true;
}

/* What is there in a moment does not wait for what is compiled. */
bool system_images_load(struct system_images *s)
{
	bool is_kept = s->wanted.all.n != 0;
	struct system_image *i;

	if (place_next(s))
		return true;
	if (!is_kept && !s->uncompiled.all.n)
		return false;
	i = next_of(s, is_kept ? &s->wanted : &s->uncompiled);
	if (i && is_kept) {
		load_or_queue(s, i);
	} else if (i) {
		compile(s, i);
		close_file(s, i);
	}
	return true;
}

bool system_images_wants_rows(const struct system_images *s)
{
	vec_each(i, &s->all)
		if (i->is_wanted)
			return true;
	return false;
}

int system_images_fd(const struct system_images *s)
{
	return row_compiler_fd(s->compiler);
}

void system_images_forget(struct system_images *s, uint32_t image)
{
	if (s->notes)
		system_notes_remove(s->notes, image);
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

bool system_images_data(const struct system_images *s, uint32_t image, uint64_t offset,
			uint64_t *ret_linked)
{
	const struct system_image *i = find_slot(s, image);

	return i && i->is_known &&
	       executable_data_address(&i->file.executable, offset, ret_linked);
}

enum own_library_code system_images_whose(const struct system_images *s, uint32_t image)
{
	const struct system_image *i = find_slot(s, image);

	return i && i->is_known ? i->whose : OWN_LIBRARY_NONE;
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
