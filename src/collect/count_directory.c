/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "collect/run_directory.h"
#include "host/proc_maps.h"
#include "host/procfs.h"
#include "wire/count_program.h"

#define PREFIX	       "of"
#define NAME_MAX_      40
#define EMPTY	       "empty"
#define WHOSE	       "counts"
#define LEAST_BYTES    (UINT64_C(256) << 20) /* ten times what most programs need */
#define MAPS_MAX_BYTES (16 << 20)

static int make(struct count_directory *d, struct err *e)
{
	int rc;

	*d = (struct count_directory){ .fd = -1, .place = -1 };
	rc = run_directory_make(d->path, sizeof(d->path), WHOSE, LEAST_BYTES, e);
	if (rc < 0)
		return rc;
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return d->fd < 0 ? err_os(e, "cannot open '%s'", d->path) : 0;
}

int count_directory_make(struct count_directory *d, struct err *e)
{
	int rc = make(d, e);

	if (rc < 0)
		return rc;
	return run_directory_write(d->fd, d->path, COUNT_DIRECTORY_ENGINE, count_program,
				   count_program_size, 0700, e);
}

static int open_root(pid_t pid, struct err *e)
{
	char path[64];
	int root;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? err_os(e, "cannot open '%s'", path) : root;
}

static bool is_empty(int directory)
{
	DIR *dir = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	unsigned n = 0;

	while (dir && n <= 2 && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n == 2; /* itself and the one above */
}

/* What was just made: who may change names there could have put another in its place. */
static int open_made(struct count_directory *d, struct err *e)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_XDEV };
	struct stat st;

	d->fd = (int)syscall(SYS_openat2, d->place, strrchr(d->path, '/') + 1, &how,
			     sizeof(how));
	if (d->fd < 0)
		return err_os(e, "cannot open '%s'", d->path);
	if (fstat(d->fd, &st) == 0 && st.st_uid == geteuid() &&
	    (st.st_mode & 0777) == 0700 && is_empty(d->fd))
		return 0;
	closep(&d->fd);
	d->fd = -1;
	d->path[0] = 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "somebody has put another directory in its place");
}

static int make_within(struct count_directory *d, pid_t pid, struct err *e)
{
	own(closep) int root = open_root(pid, e);
	int rc = root < 0 ? root
			  : run_directory_make_within(root, d->path, sizeof(d->path),
						      WHOSE, LEAST_BYTES, &d->place, e);

	return rc < 0 ? rc : open_made(d, e);
}

int count_directory_make_for(struct count_directory *d, pid_t pid, struct err *e)
{
	int rc = make(d, e);

	if (rc < 0 || count_directory_check(d, pid, NULL) == 0)
		return rc;
	count_directory_remove(d, false);
	return make_within(d, pid, e);
}

/* Links within other files are not to lead us elsewhere. */
int count_directory_check(const struct count_directory *d, pid_t pid, struct err *e)
{
	own(closep) int root = open_root(pid, e);
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT };
	struct stat own_stat, other;

	if (root < 0)
		return root;

	own(closep) int fd = (int)syscall(SYS_openat2, root, d->path, &how, sizeof(how));

	if (fd < 0 || fstat(d->fd, &own_stat) < 0 || fstat(fd, &other) < 0 ||
	    own_stat.st_dev != other.st_dev || own_stat.st_ino != other.st_ino)
		return err_set(
			e, ERR_UNSUPPORTED,
			"it sees other files than we do, or than what is counted with "
			"it, and cannot reach '%s'",
			d->path);
	return 0;
}

int count_directory_give(const struct count_directory *d, uid_t uid, gid_t gid,
			 struct err *e)
{
	if (uid == geteuid())
		return 0;
	if ((fchownat(d->fd, COUNT_DIRECTORY_ENGINE, uid, gid, AT_SYMLINK_NOFOLLOW) < 0 &&
	     errno != ENOENT) ||
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

bool count_directory_is_last(const struct count_directory_list *list,
			     struct count_directory_file f)
{
	vec_each(x, &list->at)
		if (x->pid == f.pid && x->n > f.n)
			return false;
	return true;
}

/* The program may have put anything there: what would block is not opened to block. */
int count_directory_open(const struct count_directory *d, struct count_directory_file f)
{
	char name[NAME_MAX_];

	name_of(f, name);
	return openat(d->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* No lease to read is given of what others write.  Who is told that one ends is ended by
 * that, unless by a signal that is ignored. */
bool count_directory_is_written(const struct count_directory *d,
				struct count_directory_file f)
{
	own(closep) int fd = count_directory_open(d, f);

	if (fd < 0 || fcntl(fd, F_SETSIG, SIGURG) < 0)
		return false;
	return fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
}

bool count_directory_is_mapped(const struct count_directory *d,
			       struct count_directory_file f, pid_t pid)
{
	own(closep) int fd = count_directory_open(d, f);
	own(buf_fini) struct buf text = { 0 };
	char path[64];
	struct proc_map m;
	struct stat st;
	bool is_found = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    procfs_read(path, MAPS_MAX_BYTES, &text, NULL) < 0)
		return false;
	for (const char *at = buf_str(&text), *end = at + text.size;
	     !is_found && proc_maps_next(&at, end, &m);)
		is_found = m.inode == st.st_ino && m.is_shared && m.is_writable;
	return is_found;
}

/* Never cut: somebody may still have it mapped. */
void count_directory_empty(const struct count_directory *d, struct count_directory_file f)
{
	char name[NAME_MAX_];
	own(closep) int fd = -1;

	/* The directory is the program's user's: there may be a link of that name. */
	unlinkat(d->fd, EMPTY, 0);
	fd = openat(d->fd, EMPTY, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
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

void count_directory_drop_all(const struct count_directory *d, pid_t pid)
{
	struct count_directory_list list = { 0 };

	count_directory_list(d, &list);
	vec_each(f, &list.at)
		if (f->pid == (uint32_t)pid)
			count_directory_drop(d, *f);
	vec_fini(&list.at);
}

void count_directory_remove(struct count_directory *d, bool is_used)
{
	if (!d->path[0])
		return;
	if (!is_used) {
		run_directory_empty(dup(d->fd), "");
		if (d->place < 0)
			rmdir(d->path);
		else
			unlinkat(d->place, strrchr(d->path, '/') + 1, AT_REMOVEDIR);
	}
	closep(&d->fd);
	closep(&d->place);
	d->fd = d->place = -1;
	d->path[0] = 0;
}
