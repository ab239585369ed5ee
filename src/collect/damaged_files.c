/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/damaged_files.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"

struct damaged {
	char *path;
	int64_t to_s;
	uint64_t bytes;
};

struct all {
	VEC(struct damaged) files;
};

static void all_fini(struct all *a)
{
	vec_each(d, &a->files)
		free(d->path);
	vec_fini(&a->files);
}

static void add(struct all *a, const char *directory, const char *name)
{
	own(freep) char *path = xasprintf("%s/%s", directory, name);
	int64_t from_s, to_s;
	struct stat st;

	if (!text_ends(name, DAMAGED_FILES_SUFFIX) || stat(path, &st) != 0 ||
	    !S_ISREG(st.st_mode))
		return;
	/* One that somebody has renamed is as old as its content. */
	if (sscanf(name, "%" SCNd64 "-%" SCNd64, &from_s, &to_s) != 2)
		to_s = st.st_mtime;
	*vec_push(&a->files) = (struct damaged){ .path = steal(&path),
						 .to_s = to_s,
						 .bytes = (uint64_t)st.st_size };
}

static int by_age(const void *a, const void *b)
{
	const struct damaged *x = a, *y = b;

	return (x->to_s > y->to_s) - (x->to_s < y->to_s);
}

/* The oldest first. */
static int find(const char *directory, struct all *ret, struct err *e)
{
	DIR *d = opendir(directory);
	const struct dirent *entry;

	if (!d)
		return err_os(e, "cannot read '%s'", directory);
	while ((entry = readdir(d)))
		add(ret, directory, entry->d_name);
	closedir(d);
	if (ret->files.n)
		qsort(ret->files.at, ret->files.n, sizeof(*ret->files.at), by_age);
	return 0;
}

size_t damaged_files_count(const char *directory)
{
	own(all_fini) struct all all = { 0 };

	return find(directory, &all, NULL) < 0 ? 0 : all.files.n;
}

int damaged_files_retain(const char *directory, const struct database_retention *r,
			 uint64_t other_bytes, int64_t now_s, struct err *e)
{
	own(all_fini) struct all all = { 0 };
	uint64_t bytes = other_bytes;
	int rc = find(directory, &all, e);

	if (rc < 0)
		return rc;
	vec_each(d, &all.files)
		bytes += d->bytes;
	vec_each(d, &all.files) {
		bool is_old = r->max_age_s && d->to_s < now_s - r->max_age_s;

		if (!is_old && !(r->max_bytes && bytes > r->max_bytes))
			continue;
		if (unlink(d->path) != 0)
			return err_os(e, "cannot remove '%s'", d->path);
		bytes -= d->bytes;
	}
	return 0;
}
