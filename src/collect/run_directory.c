/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/run_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/timer_leftovers.h"

/* What is shared there may be more than there is room for, and who writes it then is
 * ended by SIGBUS: no place that is as good as full already. */
static bool has_room(const struct statvfs *fs, uint64_t least_bytes)
{
	return !fs->f_blocks || /* without a limit */
	       fs->f_bavail >= least_bytes / fs->f_frsize;
}

/* Code must be allowed to run from there.  What killed recorders left may be what it is
 * full of. */
static bool is_place(const char *path, uint64_t least_bytes)
{
	struct statvfs fs;

	if (statvfs(path, &fs) < 0 || fs.f_flag & ST_NOEXEC)
		return false;
	if (has_room(&fs, least_bytes))
		return true;
	timer_leftovers_remove(path);
	return statvfs(path, &fs) == 0 && has_room(&fs, least_bytes);
}

/* In memory where possible. */
int run_directory_make(char *path, size_t cap, const char *whose, uint64_t least_bytes,
		       struct err *e)
{
	const char *const places[] = { "/dev/shm", getenv("XDG_RUNTIME_DIR"), "/tmp" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int n;

		if (!places[i] || !is_place(places[i], least_bytes))
			continue;
		n = snprintf(path, cap, "%s/" TIMER_LEFTOVERS_NAME, places[i],
			     (int)getpid());
		if (n > 0 && (size_t)n < cap && mkdtemp(path)) {
			timer_leftovers_remove(places[i]);
			return 0;
		}
	}
	path[0] = 0;
	return err_set(e, ERR_OS,
		       "no place for %s: /dev/shm and /tmp are missing, full, read-only "
		       "or mounted noexec",
		       whose);
}

/* Links lead there as they lead the process, whatever they say. */
static int open_within(int root, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static bool may_be_in(int place, uint64_t least_bytes)
{
	struct statvfs fs;

	return fstatvfs(place, &fs) == 0 && !(fs.f_flag & ST_RDONLY) &&
	       has_room(&fs, least_bytes);
}

/* By mkdtemp(), for which we name the place as we see it. */
static bool make_in(int place, const char *where, char *path, size_t cap)
{
	char template[64 + sizeof(TIMER_LEFTOVERS_NAME)];
	int n;

	snprintf(template, sizeof(template), "/proc/self/fd/%d/" TIMER_LEFTOVERS_NAME,
		 place, (int)getpid());
	if (!mkdtemp(template))
		return false;
	n = snprintf(path, cap, "%s%s", where, strrchr(template, '/'));
	if (n > 0 && (size_t)n < cap)
		return true;
	rmdir(template);
	return false;
}

int run_directory_make_within(int root, char *path, size_t cap, const char *whose,
			      uint64_t least_bytes, int *ret_place, struct err *e)
{
	static const char *const places[] = { "/dev/shm", "/tmp", "/var/tmp", "/run" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		own(closep) int place = open_within(root, places[i]);
		if (place < 0 || !may_be_in(place, least_bytes) ||
		    !make_in(place, places[i], path, cap))
			continue;
		*ret_place = steal_fd(&place);
		return 0;
	}
	path[0] = 0;
	return err_set(
		e, ERR_OS,
		"no place for %s in the files that it sees: /dev/shm, /tmp, /var/tmp "
		"and /run are missing, full or read-only",
		whose);
}

/* All of it: what a limit cuts off gives its reason at the next write. */
static bool write_all(int fd, const uint8_t *p, size_t size)
{
	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

int run_directory_write(int fd, const char *path, const char *name, const void *data,
			size_t size, mode_t mode, struct err *e)
{
	own(closep) int file =
		openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (file < 0 || !write_all(file, data, size))
		return err_os(e, "cannot write '%s/%s'", path, name);
	return 0;
}

/* Files and links only, and nothing behind a link: the folders are ours, what is in
 * them may not be. */
void run_directory_empty(int fd, const char *prefix)
{
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *x;

	if (!dir)
		return;
	while ((x = readdir(dir)))
		if (!strncmp(x->d_name, prefix, strlen(prefix)) &&
		    strcmp(x->d_name, ".") != 0 && strcmp(x->d_name, "..") != 0)
			unlinkat(dirfd(dir), x->d_name, 0);
	closedir(dir);
}
