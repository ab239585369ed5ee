/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/run_directory.h"
#include "wire/count_program.h"

#define PREFIX	  "of"
#define NAME_MAX_ 40
#define EMPTY	  "empty"

int count_directory_make(struct count_directory *d, struct err *e)
{
	int rc;

	*d = (struct count_directory){ .fd = -1 };
	rc = run_directory_make(d->path, sizeof(d->path), "counts", e);
	if (rc < 0)
		return rc;
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0)
		return err_os(e, "cannot open '%s'", d->path);
	return run_directory_write(d->fd, d->path, COUNT_DIRECTORY_ENGINE, count_program,
				   count_program_size, 0700, e);
}

int count_directory_give(const struct count_directory *d, uid_t uid, gid_t gid,
			 struct err *e)
{
	if (uid == geteuid())
		return 0;
	if (fchownat(d->fd, COUNT_DIRECTORY_ENGINE, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchown(d->fd, uid, gid) < 0)
		return err_os(e, "cannot give '%s' away", d->path);
	return 0;
}

void count_directory_prefix(const struct count_directory *d, char *ret)
{
	snprintf(ret, COUNT_DIRECTORY_MAX + 8, "%s/" PREFIX, d->path);
}

static void name_of(struct count_directory_file f, char ret[NAME_MAX_])
{
	int n = snprintf(ret, NAME_MAX_, PREFIX ".%u.%u", f.pid, f.n);

	if (f.part)
		snprintf(ret + n, NAME_MAX_ - (size_t)n, ".%u", f.part);
}

int count_directory_compare(const struct count_directory_file *a,
			    const struct count_directory_file *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return (a->part > b->part) - (a->part < b->part);
}

static int by_process(const void *a, const void *b)
{
	return count_directory_compare(a, b);
}

void count_directory_list(const struct count_directory *d,
			  struct count_directory_list *ret)
{
	DIR *dir = fdopendir(openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *x;

	vec_clear(&ret->at);
	while (dir && (x = readdir(dir))) {
		struct count_directory_file f = { 0 };
		char name[NAME_MAX_];

		if (sscanf(x->d_name, PREFIX ".%u.%u.%u", &f.pid, &f.n, &f.part) < 2)
			continue;
		name_of(f, name);
		if (!strcmp(name, x->d_name))
			*vec_push(&ret->at) = f;
	}
	if (dir)
		closedir(dir);
	if (ret->at.n)
		qsort(ret->at.at, ret->at.n, sizeof(*ret->at.at), by_process);
}

/* The program may have put anything there: what would block is not opened to block. */
int count_directory_open(const struct count_directory *d, struct count_directory_file f)
{
	char name[NAME_MAX_];

	name_of(f, name);
	return openat(d->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* Never cut: somebody may still have it mapped. */
void count_directory_empty(const struct count_directory *d, struct count_directory_file f)
{
	char name[NAME_MAX_];
	own(closep) int fd = openat(d->fd, EMPTY, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	name_of(f, name);
	if (fd < 0 || renameat(d->fd, EMPTY, d->fd, name) < 0)
		unlinkat(d->fd, name, 0);
}

void count_directory_drop(const struct count_directory *d, struct count_directory_file f)
{
	char name[NAME_MAX_];

	name_of(f, name);
	unlinkat(d->fd, name, 0);
}

void count_directory_remove(struct count_directory *d, bool is_used)
{
	if (!d->path[0])
		return;
	if (!is_used) {
		run_directory_empty(dup(d->fd), "");
		rmdir(d->path);
	}
	closep(&d->fd);
	d->path[0] = 0;
}
