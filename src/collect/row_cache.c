/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/row_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "collect/row_pack_file.h"

/* When there is too much, more than that goes, so that it is not looked for each time. */
#define KEPT_OF_10 8
/* What was used this long ago is noted as used now. */
#define USED_S 3600
/* The largest pack that is ever placed, and its rules. */
#define FILE_BYTES_MAX (UINT64_C(256) << 20)
#define SUFFIX	       ".pack"

struct row_cache {
	char *directory; /* NULL: there is none */
	uint32_t maker;
	uint64_t max_bytes;
	pthread_mutex_t lock; /* of what follows */
	uint64_t bytes;
};

struct kept_rows {
	char *name;
	uint64_t bytes;
	int64_t used_s;
};

struct kept_rows_list {
	VEC(struct kept_rows) all;
};

static void kept_rows_list_fini(struct kept_rows_list *l)
{
	vec_each(k, &l->all)
		free(k->name);
	vec_fini(&l->all);
}

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static char *default_directory(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && cache[0] == '/')
		return xasprintf("%s/dwell/unwind", cache);
	return home && home[0] == '/' ? xasprintf("%s/.cache/dwell/unwind", home) : NULL;
}

static bool make_directories(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* All of it is ours, also what earlier versions and killed writers left. */
static void list(const struct row_cache *c, struct kept_rows_list *l)
{
	own(closedirp) DIR *d = opendir(c->directory);
	const struct dirent *entry;
	struct stat st;

	while (d && (entry = readdir(d)))
		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			*vec_push(&l->all) =
				(struct kept_rows){ .name = xstrdup(entry->d_name),
						    .bytes = (uint64_t)st.st_size,
						    .used_s = st.st_mtime };
}

static int compare_used(const void *a, const void *b)
{
	const struct kept_rows *x = a, *y = b;

	return (x->used_s > y->used_s) - (x->used_s < y->used_s);
}

/* The longest unused first, until there is room again. */
static void make_room(struct row_cache *c)
{
	own(kept_rows_list_fini) struct kept_rows_list l = { 0 };

	list(c, &l);
	c->bytes = 0;
	vec_each(k, &l.all)
		c->bytes += k->bytes;
	if (c->bytes <= c->max_bytes)
		return;
	qsort(l.all.at, l.all.n, sizeof(*l.all.at), compare_used);
	vec_each(k, &l.all) {
		own(freep) char *path = xasprintf("%s/%s", c->directory, k->name);

		if (c->bytes <= c->max_bytes / 10 * KEPT_OF_10)
			break;
		if (unlink(path) == 0)
			c->bytes -= k->bytes;
	}
}

struct row_cache *row_cache_new(const char *directory, uint64_t max_bytes, uint32_t maker)
{
	struct row_cache *c = xcalloc(1, sizeof(*c));

	c->directory = directory ? xstrdup(directory) : default_directory();
	c->max_bytes = max_bytes;
	c->maker = maker;
	pthread_mutex_init(&c->lock, NULL);
	if (c->directory && !make_directories(c->directory)) {
		free(c->directory);
		c->directory = NULL;
	}
	if (c->directory)
		make_room(c);
	return c;
}

void row_cache_free(struct row_cache *c)
{
	if (!c)
		return;
	pthread_mutex_destroy(&c->lock);
	free(c->directory);
	free(c);
}

void row_cache_freep(struct row_cache **c)
{
	row_cache_free(*c);
}

static char *path_of(const struct row_cache *c, const char *key)
{
	return xasprintf("%s/%s.%08" PRIx32 SUFFIX, c->directory, key, c->maker);
}

/* NULL: it cannot be read. */
static uint8_t *read_all(int fd, size_t *ret_size)
{
	own(freep) uint8_t *data = NULL;
	struct stat st;
	size_t done = 0, size;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > FILE_BYTES_MAX)
		return NULL;
	size = (size_t)st.st_size;
	data = xcalloc(1, size);
	while (done < size) {
		ssize_t n = read(fd, data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		done += (size_t)n;
	}
	if (time(NULL) - st.st_mtime > USED_S)
		futimens(fd, NULL);
	*ret_size = size;
	return steal(&data);
}

bool row_cache_find(const struct row_cache *c, const char *key, uint32_t layout,
		    struct row_pack *ret)
{
	own(freep) char *path = NULL;
	own(freep) uint8_t *data = NULL;
	own(closep) int fd = -1;
	size_t size = 0;

	if (!c->directory)
		return false;
	path = path_of(c, key);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	data = fd < 0 ? NULL : read_all(fd, &size);
	return data && row_pack_file_parse(data, size, layout, ret, NULL) == 0;
}

static bool write_all(int fd, const struct buf *b)
{
	for (size_t done = 0; done < b->size;) {
		ssize_t n = write(fd, b->data + done, b->size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

/* Not fsynced: a crash leaves what the checksum refuses. */
void row_cache_keep(struct row_cache *c, const char *key, uint32_t layout,
		    const struct row_pack *p)
{
	own(buf_fini) struct buf b = { 0 };
	own(freep) char *path = NULL, *temporary = NULL;
	own(closep) int fd = -1;

	if (!c->directory)
		return;
	path = path_of(c, key);
	temporary = xasprintf("%s/%s.XXXXXX", c->directory, key);
	row_pack_file_format(p, layout, &b);
	fd = mkstemp(temporary);
	if (fd < 0)
		return;
	if (!write_all(fd, &b) || rename(temporary, path) < 0) {
		unlink(temporary);
		return;
	}
	pthread_mutex_lock(&c->lock);
	c->bytes += b.size;
	if (c->bytes > c->max_bytes)
		make_room(c);
	pthread_mutex_unlock(&c->lock);
}
