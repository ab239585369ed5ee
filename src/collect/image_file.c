/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/image_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/tracker.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

#define PATH_SIZE 4096

/* The kernel's names for what is no file. */
bool image_file_is_anonymous(const char *path)
{
	static const char *const names[] = { "//anon",	    "[anon",	 "[heap",
					     "[stack",	    "/dev/zero", "/SYSV",
					     "anon_inode:", "/memfd:",	 "//toolong",
					     "[uprobes]",   "[vsyscall]" };

	if (!*path)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_starts(path, names[i]))
			return true;
	return false;
}

size_t image_file_name_length(const char *path)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path), tail = sizeof(mark) - 1;

	return n > tail && !strcmp(path + n - tail, mark) ? n - tail : n;
}

static bool has_identity(int fd, const struct tracker_mmap *m, struct executable *x)
{
	if (executable_probe(fd, x, NULL) < 0 && x->inode == 0)
		return false;
	if (m->build_id_size)
		return x->build_id_size == m->build_id_size &&
		       !memcmp(x->build_id, m->build_id, m->build_id_size);
	return !m->inode || x->inode == m->inode;
}

#define LINK_SIZE 96

/* To the mapped file itself, while the process is there; without a place it is the
 * executable. */
static void mapped_link(uint32_t pid, const struct tracker_mmap *m, char link[LINK_SIZE])
{
	if (m->end)
		snprintf(link, LINK_SIZE, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid,
			 m->start, m->end);
	else
		snprintf(link, LINK_SIZE, "/proc/%u/exe", pid);
}

/* Inode numbers repeat in other file systems, as in those of two containers.  The process
 * itself knows, while it is there; what the kernel and stat(2) call a device is the same
 * in most file systems, and a file that is not found is better than another one. */
static bool is_on_device(int fd, uint32_t pid, const struct tracker_mmap *m)
{
	struct stat opened, mapped;
	char link[LINK_SIZE];

	if (!m->device)
		return true;
	mapped_link(pid, m, link);
	if (fstat(fd, &opened) != 0)
		return false;
	if (stat(link, &mapped) == 0)
		return mapped.st_dev == opened.st_dev && mapped.st_ino == opened.st_ino;
	return opened.st_dev == m->device;
}

/* The path is the process' choice: opening a device may start what it does. */
static int open_regular(const char *path)
{
	own(closep) int handle = open(path, O_PATH | O_CLOEXEC);
	char again[64];
	struct stat st;

	if (handle < 0 || fstat(handle, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", handle);
	return open(again, O_RDONLY | O_CLOEXEC);
}

static int open_if_same(const char *path, uint32_t pid, const struct tracker_mmap *m,
			struct executable *x)
{
	own(closep) int fd = open_regular(path);

	if (fd < 0 || !has_identity(fd, m, x) || !is_on_device(fd, pid, m))
		return -1;
	return steal_fd(&fd);
}

/* host_path: how it was found when not by its own path, else "". */
static int find_file(uint32_t pid, const struct tracker_mmap *m, const char *path,
		     struct executable *x, char *host_path, size_t cap)
{
	int fd = open_if_same(path, pid, m, x);

	*host_path = '\0';
	if (fd >= 0)
		return fd;
	snprintf(host_path, cap, "/proc/%u/root%s", pid, path);
	fd = open_if_same(host_path, pid, m, x);
	if (fd >= 0)
		return fd;
	mapped_link(pid, m, host_path);
	return open_if_same(host_path, pid, m, x);
}

/* The vDSO of 64-bit processes is the same in all of them: ours will do. */
static int open_vdso(void)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct buf maps = { 0 };
	struct proc_map m;
	int fd = -1;

	if (!start || procfs_read("/proc/self/maps", 4 << 20, &maps, NULL) < 0)
		goto out;
	for (const char *at = (char *)maps.data, *end = at + maps.size;
	     proc_maps_next(&at, end, &m);) {
		size_t size = m.end - m.start;

		if (m.start != start)
			continue;
		fd = memfd_create("vdso", MFD_CLOEXEC);
		if (fd >= 0 &&
		    write(fd, (void *)(uintptr_t)start, size) != (ssize_t)size) {
			close(fd);
			fd = -1;
		}
	}
out:
	buf_fini(&maps);
	return fd;
}

static bool name_of_open_file(int fd, char name[static PATH_SIZE])
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);

	ssize_t n = readlink(link, name, PATH_SIZE - 1);

	if (n <= 0)
		return false;
	name[n] = '\0';
	return true;
}

/* Dynamic linkers name a library as they found it, mostly by a link (libz.so.1), the
 * kernel by its file (libz.so.1.2.13): the file's, so that recordings compare. */
static char *file_path(int fd, const char *host_path)
{
	char real[PATH_SIZE];
	bool is_link = fd >= 0 && !*host_path && name_of_open_file(fd, real) &&
		       real[0] == '/' && access(real, F_OK) == 0;

	return is_link ? xstrdup(real) : NULL;
}

/* Under /proc a found file's name dies with the process: say where it really is, if it
 * can be reached from here. */
static char *lasting_path(int fd, const char *host_path, const struct executable *x)
{
	char real[PATH_SIZE];
	struct executable again;

	if (!*host_path || fd < 0 || !name_of_open_file(fd, real))
		return NULL;

	own(closep) int reopened = open_regular(real);

	if (reopened < 0)
		return NULL;
	if (executable_probe(reopened, &again, NULL) < 0 || again.inode != x->inode)
		return NULL;
	return xstrdup(real);
}

static void take_build_id(struct image_file *f, const struct tracker_mmap *m)
{
	size_t n = m->build_id_size ? m->build_id_size : f->executable.build_id_size;
	const uint8_t *from = m->build_id_size ? m->build_id : f->executable.build_id;

	if (n > MODEL_BUILD_ID_MAX)
		n = 0;
	f->build_id_size = (uint8_t)n;
	if (n)
		memcpy(f->build_id, from, n);
}

static void open_file(struct image_file *f, uint32_t pid, const struct tracker_mmap *m)
{
	char host_path[PATH_SIZE + 100] = "";

	f->kind = IMAGE_ELF;
	f->fd = find_file(pid, m, f->name, &f->executable, host_path, sizeof(host_path));
	f->path = file_path(f->fd, host_path);
	f->host_path = lasting_path(f->fd, host_path, &f->executable);
	if (m->path[strlen(f->name)] || f->fd < 0)
		f->flags |= IMAGE_DELETED;
}

static void open_the_vdso(struct image_file *f)
{
	f->kind = IMAGE_VDSO;
	f->fd = open_vdso();
	if (f->fd >= 0 && executable_probe(f->fd, &f->executable, NULL) < 0)
		f->executable.is_64bit = true;
	f->executable.size_bytes = 0;
	f->executable.mtime_s = 0;
}

void image_file_open(struct image_file *ret, uint32_t pid, const struct tracker_mmap *m)
{
	*ret = (struct image_file){ .name = xstrdup(m->path), .fd = -1 };
	ret->name[image_file_name_length(m->path)] = '\0';
	if (!strcmp(ret->name, "[vdso]"))
		open_the_vdso(ret);
	else
		open_file(ret, pid, m);
	ret->is_found = ret->fd >= 0;
	if (!ret->is_found) /* what was looked at is another file */
		ret->executable = (struct executable){ 0 };
	else if (!ret->executable.is_64bit)
		ret->flags |= IMAGE_32BIT;
	take_build_id(ret, m);
}

void image_file_fini(struct image_file *f)
{
	free(f->name);
	free(f->path);
	free(f->host_path);
	closep(&f->fd);
}

void image_file_model(const struct image_file *f, struct writer *w,
		      struct model_image *ret)
{
	*ret = (struct model_image){ .kind = f->kind,
				     .flags = f->flags,
				     .build_id_size = f->build_id_size,
				     .path = writer_string(w,
							   f->path ? f->path : f->name),
				     .host_path = writer_string(w, f->host_path) };
	memcpy(ret->build_id, f->build_id, f->build_id_size);
	ret->size_bytes = f->executable.size_bytes;
	ret->mtime_s = (uint64_t)f->executable.mtime_s;
}
