/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/output_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/output_file.h"

static int make(struct output_folder *f, struct err *e)
{
	if (f->files.n)
		return 0;
	f->is_new = mkdir(f->path, 0777) == 0;
	if (!f->is_new && errno != EEXIST)
		return err_os(e, "cannot create directory '%s'", f->path);
	return 0;
}

static int open_file(struct export_sink *s, const char *name, FILE **ret, struct err *e)
{
	struct output_folder *f = (struct output_folder *)s;
	int rc = make(f, e);
	char *path;
	FILE *out;

	if (rc < 0)
		return rc;
	path = xasprintf("%s/%s", f->path, name);
	out = fopen(path, "we");
	if (!out) {
		rc = err_os(e, "cannot create '%s'", path);
		free(path);
		return rc;
	}
	*vec_push(&f->files) = path;
	*ret = out;
	return 0;
}

static void leave_out(struct export_sink *s, const char *text)
{
	struct output_folder *f = (struct output_folder *)s;

	*vec_push(&f->left_out) = xstrdup(text);
}

static void tell(struct export_sink *s, const char *text)
{
	struct output_folder *f = (struct output_folder *)s;

	*vec_push(&f->told) = xstrdup(text);
}

void output_folder_init(struct output_folder *f, const char *path)
{
	*f = (struct output_folder){ .sink = { open_file, leave_out, tell },
				     .path = path };
}

void output_folder_fini(struct output_folder *f)
{
	vec_each(path, &f->files)
		free(*path);
	vec_each(line, &f->left_out)
		free(*line);
	vec_each(line, &f->told)
		free(*line);
	vec_fini(&f->files);
	vec_fini(&f->left_out);
	vec_fini(&f->told);
}

void output_folder_discard(struct output_folder *f)
{
	vec_each(path, &f->files)
		output_file_discard(*path);
	if (f->is_new)
		rmdir(f->path);
}

uint64_t output_folder_bytes(const struct output_folder *f)
{
	uint64_t sum = 0;
	struct stat st;

	vec_each(path, &f->files)
		if (stat(*path, &st) == 0)
			sum += (uint64_t)st.st_size;
	return sum;
}
