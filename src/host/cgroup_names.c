/* SPDX-License-Identifier: Apache-2.0 */
#include "host/cgroup_names.h"

#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "host/procfs.h"

#define TEXT_MAX      65536
#define CACHED_MAX    16384 /* a machine of short containers has no end of them */
#define KERNFS_HANDLE 0xfe  /* FILEID_KERNFS: 64 bits, the id */

struct cgroup_names {
	int mount; /* of the hierarchy, -1: there is none */
	char *mount_path;
	struct map known; /* id → name */
	struct intern *names;
};

static char *find_mount(void)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	char *path = NULL;

	while (f && !path && (m = getmntent(f)))
		if (strcmp(m->mnt_type, "cgroup2") == 0)
			path = xstrdup(m->mnt_dir);
	if (f)
		endmntent(f);
	return path;
}

struct cgroup_names *cgroup_names_new(void)
{
	struct cgroup_names *c = xcalloc(1, sizeof(*c));

	c->mount_path = find_mount();
	c->mount = c->mount_path ? open(c->mount_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				 : -1;
	c->names = intern_new();
	return c;
}

void cgroup_names_free(struct cgroup_names *c)
{
	if (!c)
		return;
	closep(&c->mount);
	free(c->mount_path);
	map_fini(&c->known);
	intern_free(c->names);
	free(c);
}

void cgroup_names_freep(struct cgroup_names **c)
{
	cgroup_names_free(*c);
}

/* By its handle, as an NFS server would: the id is all of it. */
static bool ask_kernel(const struct cgroup_names *c, uint64_t id, char *path, size_t cap)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(id)];
	} h = { .handle = { .handle_bytes = sizeof(id), .handle_type = KERNFS_HANDLE } };
	own(closep) int fd = -1;
	char link[64];
	ssize_t n;

	memcpy(h.handle.f_handle, &id, sizeof(id));
	fd = c->mount < 0 ? -1
			  : open_by_handle_at(c->mount, &h.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, cap - 1);
	if (n < (ssize_t)strlen(c->mount_path))
		return false;
	path[n] = '\0';
	memmove(path, path + strlen(c->mount_path),
		strlen(path + strlen(c->mount_path)) + 1);
	if (!*path)
		strcpy(path, "/");
	return true;
}

/* "0::/system.slice/x.service" is the line of the unified hierarchy. */
bool cgroup_names_of_process(pid_t pid, char *path, size_t cap)
{
	struct buf text = { 0 };
	char file[64];
	const char *line = NULL;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", pid);
	if (procfs_read(file, TEXT_MAX, &text, NULL) == 0) {
		buf_u8(&text, 0);
		line = strstr((char *)text.data, "0::");
	}
	if (line)
		snprintf(path, cap, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	buf_fini(&text);
	return line;
}

const char *cgroup_names_find(struct cgroup_names *c, uint64_t id, pid_t pid)
{
	const uint64_t *known = map_find(&c->known, id);
	char path[PATH_MAX];

	if (known)
		return intern_get(c->names, (uint32_t)*known);
	if (!ask_kernel(c, id, path, sizeof(path)) &&
	    !cgroup_names_of_process(pid, path, sizeof(path)))
		return NULL;
	if (c->known.n >= CACHED_MAX) {
		map_clear(&c->known);
		intern_free(c->names);
		c->names = intern_new();
	}
	*map_slot(&c->known, id, NULL) = intern_add(c->names, path, strlen(path));
	return intern_get(c->names, (uint32_t)*map_find(&c->known, id));
}
