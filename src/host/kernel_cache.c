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

#define LINE_MAX_BYTES 1024
#define WINDOW_BYTES   8192

/* Ours and nobody else's: a planted file would rename the kernel's functions. */
static bool is_private(int fd, size_t *ret_size)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	*ret_size = (size_t)st.st_size;
	return S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

/* The descriptor of a cache of this boot, or -1. */
static int open_cache(const char *path, const char *boot_id, size_t *ret_size)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size_t n = strlen(boot_id);
	char head[64];

	if (fd < 0 || n > sizeof(head) || !is_private(fd, ret_size) ||
	    pread(fd, head, n, 0) != (ssize_t)n || memcmp(head, boot_id, n) != 0)
		return -1;
	return steal_fd(&fd);
}

/* The first whole line behind byte at: its symbol's address and where it begins. */
static bool line_behind(int fd, size_t at, uint64_t *ret_addr, size_t *ret_at)
{
	char window[2 * LINE_MAX_BYTES];
	ssize_t n = pread(fd, window, sizeof(window), (off_t)at);
	const char *p = n > 0 ? memchr(window, '\n', (size_t)n) : NULL;
	struct kernel_symbol s;

	if (!p || memchr(p + 1, '\n', (size_t)(window + n - p - 1)) == NULL)
		return false;
	*ret_at = at + (size_t)(p + 1 - window);
	p++;
	if (!kernel_next_symbol(&p, window + n, &s))
		return false;
	*ret_addr = s.addr;
	return true;
}

/* A part of the file: begins with a line; the line behind its end has the address next.
 */
struct part {
	size_t begin, end;
	uint64_t next;
};

/* Cut off what cannot have the address: what lies before byte at, or behind. */
static void cut(int fd, size_t at, uint64_t addr, struct part *p)
{
	uint64_t first = UINT64_MAX;
	size_t line;

	if (line_behind(fd, at, &first, &line) && first <= addr && line < p->end) {
		p->begin = line;
	} else {
		p->end = at;
		p->next = first;
	}
}

/* Go on from the part of a smaller address: first in growing steps, for kernel code that
 * is used lies close together, then by halves. */
static void find_part(int fd, size_t size, uint64_t addr, struct part *p)
{
	p->end = size;
	p->next = UINT64_MAX;
	for (size_t step = WINDOW_BYTES; p->end == size && step < size - p->begin;
	     step *= 2)
		cut(fd, p->begin + step, addr, p);
	while (p->end - p->begin > WINDOW_BYTES)
		cut(fd, p->begin + (p->end - p->begin) / 2, addr, p);
}

/* Bisect the file, not a copy of it: its 5 MB would cost more than the search. */
static void select_from_cache(int fd, size_t begin, size_t size, const uint64_t *addrs,
			      size_t n, struct buf *ret)
{
	char window[WINDOW_BYTES + LINE_MAX_BYTES];
	struct part p = { .begin = begin };

	for (size_t i = 0, k; i < n; i += k) {
		find_part(fd, size, addrs[i], &p);

		ssize_t got = pread(fd, window, p.end - p.begin + LINE_MAX_BYTES,
				    (off_t)p.begin);

		k = 1;
		while (i + k < n && addrs[i + k] < p.next)
			k++;
		if (got > 0)
			kernel_select_sorted(window, (size_t)got, addrs + i, k, ret);
	}
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

int kernel_cache_select_in(const char *path, const char *boot_id, const char *kallsyms,
			   const uint64_t *addrs, size_t n, struct buf *ret,
			   struct err *e)
{
	struct buf all = { 0 }, functions = { 0 };
	size_t size = 0;
	own(closep) int fd = path ? open_cache(path, boot_id, &size) : -1;

	if (fd >= 0) {
		select_from_cache(fd, strlen(boot_id), size, addrs, n, ret);
		return 0;
	}

	int rc = procfs_read(kallsyms, KALLSYMS_MAX, &all, e);

	if (rc == 0)
		take_functions((const char *)all.data, all.size, &functions);
	if (rc == 0 && path && functions.size)
		write_cache(path, boot_id, &functions);
	kernel_select_sorted((const char *)functions.data, functions.size, addrs, n, ret);
	buf_fini(&functions);
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

int kernel_cache_select(const uint64_t *addrs, size_t n, struct buf *ret, struct err *e)
{
	char path[PATH_MAX], boot_id[64];
	bool has_cache = cache_path(path, sizeof(path)) &&
			 procfs_read_text("/proc/sys/kernel/random/boot_id", boot_id,
					  sizeof(boot_id), NULL) == 0;

	return kernel_cache_select_in(has_cache ? path : NULL, has_cache ? boot_id : "",
				      "/proc/kallsyms", addrs, n, ret, e);
}
