/* SPDX-License-Identifier: Apache-2.0 */
#include "host/kernel_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kernel.h"
#include "host/procfs.h"

#define KALLSYMS_MAX ((size_t)256 << 20)

/* Ours and nobody else's: a planted file would rename the kernel's functions. */
static bool is_private(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

static bool read_cache(const char *path, const char *boot_id, struct buf *ret)
{
	size_t n = strlen(boot_id);

	if (!is_private(path) || procfs_read(path, KALLSYMS_MAX, ret, NULL) < 0 ||
	    ret->size <= n || memcmp(ret->data, boot_id, n) != 0) {
		buf_clear(ret);
		return false;
	}
	memmove(ret->data, ret->data + n, ret->size - n);
	ret->size -= n;
	return true;
}

static void write_cache(const char *path, const char *boot_id, const struct buf *symbols)
{
	char temporary[PATH_MAX + 16];

	snprintf(temporary, sizeof(temporary), "%s.%d", path, getpid());

	own(closep) int fd = open(
		temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	ssize_t n = (ssize_t)strlen(boot_id);

	if (fd < 0)
		return;
	if (write(fd, boot_id, (size_t)n) != n ||
	    write(fd, symbols->data, symbols->size) != (ssize_t)symbols->size ||
	    rename(temporary, path) != 0)
		unlink(temporary);
}

/* Functions only, and the part that is sorted. */
static void take_functions(const char *text, size_t size, struct buf *ret)
{
	const char *at = text;
	struct kernel_symbol s;
	uint64_t last = 0;

	while (kernel_next_symbol(&at, text + size, &s)) {
		if (s.module || !s.addr || s.addr < last || !strchr("tTwW", s.type))
			continue;
		last = s.addr;
		kernel_print_symbol(&s, ret);
	}
}

int kernel_cache_symbols_in(const char *path, const char *boot_id, const char *kallsyms,
			    struct buf *ret, struct err *e)
{
	struct buf all = { 0 };

	if (path && read_cache(path, boot_id, ret))
		return 0;

	int rc = procfs_read(kallsyms, KALLSYMS_MAX, &all, e);

	if (rc == 0)
		take_functions((const char *)all.data, all.size, ret);
	if (rc == 0 && path && ret->size)
		write_cache(path, boot_id, ret);
	buf_fini(&all);
	return rc;
}

static bool cache_path(char *s, size_t cap)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char parent[PATH_MAX - 64], dir[PATH_MAX - 32];

	if (base && base[0] == '/')
		snprintf(parent, sizeof(parent), "%s", base);
	else if (home && home[0] == '/')
		snprintf(parent, sizeof(parent), "%s/.cache", home);
	else
		return false;
	snprintf(dir, sizeof(dir), "%s/dwell", parent);
	if ((mkdir(parent, 0700) != 0 && errno != EEXIST) ||
	    (mkdir(dir, 0700) != 0 && errno != EEXIST))
		return false;
	snprintf(s, cap, "%s/kallsyms", dir);
	return true;
}

int kernel_cache_symbols(struct buf *ret, struct err *e)
{
	char path[PATH_MAX], boot_id[64];
	bool has_cache = cache_path(path, sizeof(path)) &&
			 procfs_read_text("/proc/sys/kernel/random/boot_id", boot_id,
					  sizeof(boot_id), NULL) == 0;

	return kernel_cache_symbols_in(has_cache ? path : NULL, has_cache ? boot_id : "",
				       "/proc/kallsyms", ret, e);
}
