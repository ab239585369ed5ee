/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/image_table.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "collect/tracker.h"
#include "host/executable.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

#define PATH_SIZE 4096

struct image {
	uint32_t id;
	char *path;
	int fd; /* -1: closed, or never found */
	struct unwind_image *unwind;
	struct image_table_traits traits;
};

struct image_table {
	struct writer *writer;
	struct intern *keys; /* id - 1 = index of the image */
	struct buf key;
	VEC(struct image) images;
};

struct image_table *image_table_new(struct writer *w)
{
	struct image_table *t = xcalloc(1, sizeof(*t));

	t->writer = w;
	t->keys = intern_new();
	return t;
}

void image_table_free(struct image_table *t)
{
	if (!t)
		return;
	vec_each(i, &t->images) {
		unwind_image_free(i->unwind);
		closep(&i->fd);
		free(i->path);
	}
	vec_fini(&t->images);
	buf_fini(&t->key);
	intern_free(t->keys);
	free(t);
}

void image_table_freep(struct image_table **t)
{
	image_table_free(*t);
}

/* The kernel's names for what is no file. */
static bool is_anonymous(const char *path)
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

static bool has_identity(int fd, const struct tracker_mmap *m, struct executable *x)
{
	if (executable_probe(fd, x, NULL) < 0 && x->inode == 0)
		return false;
	if (m->build_id_size)
		return x->build_id_size == m->build_id_size &&
		       !memcmp(x->build_id, m->build_id, m->build_id_size);
	return !m->inode || x->inode == m->inode;
}

static int open_if_same(const char *path, const struct tracker_mmap *m,
			struct executable *x)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || !has_identity(fd, m, x))
		return -1;
	return steal_fd(&fd);
}

/* host_path: how it was found when not by its own path, else "". */
static int find_file(uint32_t pid, const struct tracker_mmap *m, const char *path,
		     struct executable *x, char *host_path, size_t cap)
{
	int fd = open_if_same(path, m, x);

	*host_path = '\0';
	if (fd >= 0)
		return fd;
	snprintf(host_path, cap, "/proc/%u/root%s", pid, path);
	fd = open_if_same(host_path, m, x);
	if (fd >= 0)
		return fd;
	snprintf(host_path, cap, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid, m->start,
		 m->end);
	return open_if_same(host_path, m, x);
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
static uint32_t file_path(struct image_table *t, int fd, const char *path,
			  const char *host_path)
{
	char real[PATH_SIZE];
	bool is_link = fd >= 0 && !*host_path && name_of_open_file(fd, real) &&
		       real[0] == '/' && access(real, F_OK) == 0;

	return writer_string(t->writer, is_link ? real : path);
}

/* Under /proc a found file's name dies with the process: say where it really is, if it
 * can be reached from here. */
static uint32_t lasting_path(struct image_table *t, int fd, const char *host_path,
			     const struct executable *x)
{
	char real[PATH_SIZE];
	struct executable again;

	if (!*host_path || fd < 0 || !name_of_open_file(fd, real))
		return 0;

	own(closep) int reopened = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (reopened < 0)
		return 0;
	if (executable_probe(reopened, &again, NULL) < 0 || again.inode != x->inode)
		return 0;
	return writer_string(t->writer, real);
}

static void describe(struct model_image *model, const struct tracker_mmap *m,
		     const struct executable *x, int fd)
{
	size_t n = m->build_id_size ? m->build_id_size : x->build_id_size;
	const uint8_t *build_id = m->build_id_size ? m->build_id : x->build_id;

	if (n > MODEL_BUILD_ID_MAX)
		n = 0;
	model->build_id_size = (uint8_t)n;
	if (n)
		memcpy(model->build_id, build_id, n);
	if (fd < 0)
		return;
	model->size_bytes = x->size_bytes;
	model->mtime_s = (uint64_t)x->mtime_s;
	if (!x->is_64bit)
		model->flags |= IMAGE_32BIT;
}

static void add_image(struct image_table *t, uint32_t pid, const struct tracker_mmap *m,
		      const char *path, bool is_deleted)
{
	struct model_image model = { 0 };
	struct executable x = { 0 };
	char host_path[PATH_SIZE + 100] = "";
	int fd;

	if (!strcmp(path, "[vdso]")) {
		model.kind = IMAGE_VDSO;
		model.path = writer_string(t->writer, path);
		fd = open_vdso();
		if (fd >= 0 && executable_probe(fd, &x, NULL) < 0)
			x.is_64bit = true;
		x.size_bytes = 0;
		x.mtime_s = 0;
	} else {
		model.kind = IMAGE_ELF;
		fd = find_file(pid, m, path, &x, host_path, sizeof(host_path));
		model.path = file_path(t, fd, path, host_path);
		model.host_path = lasting_path(t, fd, host_path, &x);
	}
	if (is_deleted || (fd < 0 && model.kind == IMAGE_ELF))
		model.flags |= IMAGE_DELETED;
	describe(&model, m, &x, fd);

	*vec_push(&t->images) = (struct image){
		.id = writer_image(t->writer, &model),
		.path = xstrdup(path),
		.fd = fd,
		.traits = { .is_32bit = fd >= 0 && !x.is_64bit,
			    .is_static = fd >= 0 && x.is_static,
			    .is_setid = fd >= 0 && x.is_setid,
			    .entry_offset = x.entry_offset },
	};
}

static bool strip_deleted(char *path)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path), tail = sizeof(mark) - 1;

	if (n <= tail || strcmp(path + n - tail, mark) != 0)
		return false;
	path[n - tail] = '\0';
	return true;
}

uint32_t image_table_of(struct image_table *t, uint32_t pid, const struct tracker_mmap *m)
{
	if (is_anonymous(m->path))
		return IMAGE_TABLE_ANONYMOUS;

	own(freep) char *path = xstrdup(m->path);
	bool is_deleted = strip_deleted(path);

	buf_clear(&t->key);
	buf_add(&t->key, m->build_id, m->build_id_size);
	if (!m->build_id_size && strcmp(path, "[vdso]") != 0)
		buf_u64le(&t->key, m->inode);
	buf_puts(&t->key, path);

	uint32_t key = intern_add(t->keys, (char *)t->key.data, t->key.size);

	if (key > t->images.n)
		add_image(t, pid, m, path, is_deleted);
	return key - 1;
}

uint32_t image_table_id(const struct image_table *t, uint32_t image)
{
	return t->images.at[image].id;
}

const char *image_table_path(const struct image_table *t, uint32_t image)
{
	return t->images.at[image].path;
}

struct unwind_image *image_table_unwind(struct image_table *t, uint32_t image)
{
	struct image *i = &t->images.at[image];

	if (i->fd < 0)
		return i->unwind;
	if (unwind_image_open(i->fd, i->path, &i->unwind, NULL) < 0)
		i->unwind = NULL;
	close(i->fd);
	i->fd = -1;
	return i->unwind;
}

struct image_table_traits image_table_traits(const struct image_table *t, uint32_t image)
{
	return t->images.at[image].traits;
}

uint32_t image_table_count(const struct image_table *t)
{
	return (uint32_t)t->images.n;
}
