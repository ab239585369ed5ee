/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/symbol_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/image_file.h"
#include "host/symbol_file.h"
#include "store/durable.h"

/* When there is too much, more than that goes, so that it is not looked for each time. */
#define KEPT_OF_10   9
#define LARGEST_PART 3 /* of the limit, that a single file may be */
#define NAME_SIZE    (sizeof(".build-id/ab/") + 2 * (size_t)MODEL_BUILD_ID_MAX)

struct symbol_store {
	char *directory;
	int fd; /* of it */
	uint64_t max_bytes, bytes, n_failures;
};

struct kept_file {
	char name[NAME_SIZE];
	uint64_t bytes;
	int64_t used_s;
};

struct kept_files {
	VEC(struct kept_file) all;
};

static void kept_files_fini(struct kept_files *k)
{
	vec_fini(&k->all);
}

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static DIR *open_directory(const struct symbol_store *s, const char *path)
{
	int fd = openat(s->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* Those of the build-ids that begin with these digits; what was not written in whole
 * goes. */
static void list_in(const struct symbol_store *s, const char *digits,
		    struct kept_files *list)
{
	char path[NAME_SIZE];
	const struct dirent *entry;
	struct stat st;

	snprintf(path, sizeof(path), ".build-id/%.2s", digits);

	own(closedirp) DIR *d = open_directory(s, path);

	while (d && (entry = readdir(d))) {
		struct kept_file k = { 0 };
		int n = snprintf(k.name, sizeof(k.name), "%s/%s", path, entry->d_name);

		if (durable_is_temporary(entry->d_name)) {
			unlinkat(dirfd(d), entry->d_name, 0);
			continue;
		}
		if (n >= (int)sizeof(k.name) ||
		    fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (!st.st_size) /* after a power failure */
			unlinkat(dirfd(d), entry->d_name, 0);
		k.bytes = (uint64_t)st.st_size;
		k.used_s = st.st_mtime;
		*vec_push(&list->all) = k;
	}
}

static void list_all(const struct symbol_store *s, struct kept_files *list)
{
	own(closedirp) DIR *d = open_directory(s, ".build-id");
	const struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strlen(entry->d_name) == 2 && strcmp(entry->d_name, "..") != 0)
			list_in(s, entry->d_name, list);
}

int symbol_store_new(const char *directory, uint64_t max_bytes, struct symbol_store **ret,
		     struct err *e)
{
	own(symbol_store_freep) struct symbol_store *s = xcalloc(1, sizeof(*s));
	own(kept_files_fini) struct kept_files list = { 0 };
	own(freep) char *inner = xasprintf("%s/.build-id", directory);
	int rc = durable_directory(directory, e);

	s->fd = -1;
	s->directory = xstrdup(directory);
	s->max_bytes = max_bytes;
	if (rc == 0)
		rc = durable_directory(inner, e);
	if (rc < 0)
		return rc;
	s->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0)
		return err_os(e, "cannot open '%s'", directory);
	list_all(s, &list);
	vec_each(k, &list.all)
		s->bytes += k->bytes;
	*ret = steal(&s);
	return 0;
}

void symbol_store_free(struct symbol_store *s)
{
	if (!s)
		return;
	closep(&s->fd);
	free(s->directory);
	free(s);
}

void symbol_store_freep(struct symbol_store **s)
{
	symbol_store_free(*s);
}

static int compare_used(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;

	return (x->used_s > y->used_s) - (x->used_s < y->used_s);
}

/* The longest unused first, until there is room again. */
static void make_room(struct symbol_store *s)
{
	own(kept_files_fini) struct kept_files list = { 0 };

	list_all(s, &list);
	s->bytes = 0;
	vec_each(k, &list.all)
		s->bytes += k->bytes;
	if (list.all.n)
		qsort(list.all.at, list.all.n, sizeof(*list.all.at), compare_used);
	vec_each(k, &list.all) {
		if (s->bytes <= s->max_bytes / 10 * KEPT_OF_10)
			break;
		if (unlinkat(s->fd, k->name, 0) == 0)
			s->bytes -= k->bytes;
	}
}

static void name_of(const struct image_file *file, char name[NAME_SIZE])
{
	size_t n = (size_t)sprintf(name, ".build-id/%02x/", file->build_id[0]);

	for (size_t i = 1; i < file->build_id_size; i++)
		n += (size_t)sprintf(name + n, "%02x", file->build_id[i]);
}

/* Not fsynced: what a crash takes is written when it is met again. */
static int write_new(struct symbol_store *s, const struct image_file *file,
		     const char *name, struct err *e)
{
	own(freep) char *path = xasprintf("%s/%s", s->directory, name);
	own(freep) char *temporary = durable_temporary(path);
	own(freep) char *directory = xasprintf("%s/%.*s", s->directory, 12, name);
	own(closep) int fd = -1;
	struct stat st = { 0 };
	int rc = 0;

	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return err_os(e, "cannot make '%s'", directory);
	fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_os(e, "cannot write '%s'", temporary);
	rc = symbol_file_write(file->fd, fd, s->max_bytes / LARGEST_PART, e);
	if (rc == 0 && (fstat(fd, &st) < 0 || rename(temporary, path) < 0))
		rc = err_os(e, "cannot write '%s'", path);
	if (rc < 0)
		unlink(temporary);
	else
		s->bytes += (uint64_t)st.st_size;
	return rc;
}

void symbol_store_keep(struct symbol_store *s, const struct image_file *file)
{
	char name[NAME_SIZE];
	int rc;

	if (file->fd < 0 || file->build_id_size < 2)
		return;
	name_of(file, name);
	if (utimensat(s->fd, name, NULL, 0) == 0) /* there, and used */
		return;
	rc = write_new(s, file, name, NULL);
	s->n_failures += rc < 0 && rc != ERR_FORMAT && rc != ERR_UNSUPPORTED;
	if (s->bytes > s->max_bytes)
		make_room(s);
}

uint64_t symbol_store_bytes(const struct symbol_store *s)
{
	return s->bytes;
}

uint64_t symbol_store_n_failures(const struct symbol_store *s)
{
	return s->n_failures;
}
