/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_pins.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define FILE_SYSTEM "/sys/fs/bpf"

struct system_pins {
	char *path;
};

static int check_file_system(struct err *e)
{
	struct statfs fs;

	if (statfs(FILE_SYSTEM, &fs) != 0 || fs.f_type != BPF_FS_MAGIC)
		return err_set(e, ERR_UNSUPPORTED,
			       "no BPF file system is mounted at " FILE_SYSTEM);
	return 0;
}

/* What is there must be ours alone: whoever may write there could have us go on with maps
 * of their own. */
static int make_directory(const char *path, struct err *e)
{
	struct stat st;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return err_os(e, "cannot make '%s'", path);
	if (lstat(path, &st) != 0)
		return err_os(e, "cannot look at '%s'", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return err_set(e, ERR_UNSUPPORTED, "'%s' is not root's alone", path);
	return 0;
}

int system_pins_open(const char *name, struct system_pins **ret, struct err *e)
{
	own(system_pins_freep) struct system_pins *p = xcalloc(1, sizeof(*p));
	int rc = check_file_system(e);

	p->path = xasprintf(SYSTEM_PINS_ROOT "/%s", name);
	if (rc == 0)
		rc = make_directory(SYSTEM_PINS_ROOT, e);
	if (rc == 0)
		rc = make_directory(p->path, e);
	if (rc == 0)
		*ret = steal(&p);
	return rc;
}

void system_pins_free(struct system_pins *p)
{
	if (!p)
		return;
	free(p->path);
	free(p);
}

void system_pins_freep(struct system_pins **p)
{
	system_pins_free(*p);
}

const char *system_pins_path(const struct system_pins *p)
{
	return p->path;
}

/* The file system has no dots in names. */
static char *path_of(const struct system_pins *p, const char *what)
{
	char *path = xasprintf("%s/%s", p->path, what);

	for (char *at = path + strlen(p->path); *at; at++)
		if (*at == '.')
			*at = '_';
	return path;
}

int system_pins_get(const struct system_pins *p, const char *what)
{
	own(freep) char *path = path_of(p, what);
	int fd = bpf_obj_get(path);

	return fd < 0 ? -1 : fd;
}

int system_pins_put(const struct system_pins *p, int fd, const char *what, struct err *e)
{
	own(freep) char *path = path_of(p, what);

	if (bpf_obj_pin(fd, path) < 0)
		return err_os(e, "cannot pin '%s'", path);
	return 0;
}

void system_pins_remove(const struct system_pins *p, const char *what)
{
	own(freep) char *path = path_of(p, what);

	unlink(path);
}

static bool remove_all(const char *path, const char *like, const char *but)
{
	DIR *d = opendir(path);
	const struct dirent *entry;

	if (!d)
		return false;
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.' && text_starts(entry->d_name, like) &&
		    !(but && text_starts(entry->d_name, but)))
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	return true;
}

void system_pins_remove_others(const struct system_pins *p, const char *like,
			       const char *but)
{
	remove_all(p->path, like, but);
}

/* What counts ends first: whoever is killed here leaves nothing that goes on. */
static bool clear(const char *path)
{
	if (!remove_all(path, SYSTEM_PINS_LINK, NULL))
		return false;
	remove_all(path, SYSTEM_PINS_HOOK, NULL);
	remove_all(path, "", NULL);
	rmdir(path);
	rmdir(SYSTEM_PINS_ROOT); /* the last one's */
	return true;
}

void system_pins_clear(const struct system_pins *p)
{
	clear(p->path);
}

bool system_pins_are_there(const char *name)
{
	own(freep) char *path = xasprintf(SYSTEM_PINS_ROOT "/%s", name);

	return access(path, F_OK) == 0;
}

static bool is_of(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && (!entry[n] || entry[n] == '-');
}

void system_pins_each(const char *name, void (*found)(void *ctx, const char *full),
		      void *ctx)
{
	struct dirent **all;
	int n = scandir(SYSTEM_PINS_ROOT, &all, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (is_of(all[i]->d_name, name))
			found(ctx, all[i]->d_name);
		free(all[i]);
	}
	if (n >= 0)
		free(all);
}

static void forget(void *ctx, const char *full)
{
	own(freep) char *path = xasprintf(SYSTEM_PINS_ROOT "/%s", full);

	*(bool *)ctx |= clear(path);
}

bool system_pins_forget(const char *name)
{
	bool were_there = false;

	system_pins_each(name, forget, &were_there);
	return were_there;
}
