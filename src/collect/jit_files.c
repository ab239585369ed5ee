/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "host/procfs.h"

#define JIT_FILE_MAX ((size_t)1 << 30)

struct jit_file {
	uint32_t pid, image;
	enum blob_kind kind;
	int fd;
	char name[64];
	bool is_past; /* of an earlier program of this pid */
};

struct jit_files {
	struct writer *writer;
	VEC(struct jit_file) files;
};

struct jit_files *jit_files_new(struct writer *w)
{
	struct jit_files *j = xcalloc(1, sizeof(*j));

	j->writer = w;
	return j;
}

void jit_files_free(struct jit_files *j)
{
	if (!j)
		return;
	vec_each(f, &j->files)
		closep(&f->fd);
	vec_fini(&j->files);
	free(j);
}

/* Written by whoever owns the target: only a plain file is safe to read. */
static bool add_file(struct jit_files *j, uint32_t pid, enum blob_kind kind,
		     const char *path)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;

	const char *base = strrchr(path, '/');
	struct jit_file *f = vec_push(&j->files);

	f->pid = pid;
	f->image = MODEL_NONE;
	f->kind = kind;
	f->fd = steal_fd(&fd);
	snprintf(f->name, sizeof(f->name), "%s", base ? base + 1 : path);
	return true;
}

static bool is_known(struct jit_files *j, uint32_t pid, const char *name)
{
	vec_each(f, &j->files)
		if (f->pid == pid && !f->is_past && !strcmp(f->name, name))
			return true;
	return false;
}

bool jit_files_note_mapping(struct jit_files *j, uint32_t pid, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(path);
	char inside[4200];

	if (!base || strncmp(base, "/jit-", 5) != 0 || n < 5 ||
	    strcmp(path + n - 5, ".dump") != 0)
		return false;
	if (is_known(j, pid, base + 1))
		return true;
	snprintf(inside, sizeof(inside), "/proc/%u/root%s", pid, path);
	return add_file(j, pid, BLOB_JIT_DUMP, inside) ||
	       add_file(j, pid, BLOB_JIT_DUMP, path);
}

/* The id by which a process in a container knows itself: the last of NSpid. */
static uint32_t inner_pid(uint32_t pid)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (procfs_read_text(path, text, sizeof(text), NULL) < 0)
		return pid;

	char *line = strstr(text, "\nNSpid:");

	if (!line)
		return pid;
	line += 7;
	line[strcspn(line, "\n")] = '\0';

	char *last = strrchr(line, '\t');

	return last ? (uint32_t)strtoul(last, NULL, 10) : pid;
}

static struct jit_file *find(struct jit_files *j, uint32_t pid)
{
	vec_each(f, &j->files)
		if (f->pid == pid && !f->is_past)
			return f;
	return NULL;
}

bool jit_files_has(struct jit_files *j, uint32_t pid)
{
	char path[96];

	if (find(j, pid))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid,
		 inner_pid(pid));
	if (add_file(j, pid, BLOB_JIT_MAP, path))
		return true;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	return add_file(j, pid, BLOB_JIT_MAP, path);
}

void jit_files_set_image(struct jit_files *j, uint32_t pid, uint32_t image)
{
	vec_each(f, &j->files)
		if (f->pid == pid && !f->is_past)
			f->image = image;
}

void jit_files_forget(struct jit_files *j, uint32_t pid)
{
	vec_each(f, &j->files)
		if (f->pid == pid)
			f->is_past = true;
}

static int keep_one(struct jit_files *j, const struct jit_file *f, struct err *e)
{
	struct buf data = { 0 };
	char path[64];
	int rc;

	/* A fresh descriptor, at offset 0. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	rc = procfs_read(path, JIT_FILE_MAX, &data, e);
	if (rc == 0 && data.size)
		rc = writer_blob(
			j->writer,
			&(struct model_blob){ .kind = f->kind,
					      .name = writer_string(j->writer, f->name),
					      .image = f->image,
					      .size_bytes = data.size },
			data.data, e);
	buf_fini(&data);
	return rc;
}

int jit_files_keep(struct jit_files *j, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < j->files.n; i++) {
		const struct jit_file *f = &j->files.at[i];
		int one = f->image == MODEL_NONE ? 0 : keep_one(j, f, rc ? NULL : e);

		if (one < 0 && rc == 0)
			rc = one;
	}
	return rc;
}
