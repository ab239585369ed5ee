/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/proc_wait.h"

/* Documentation/admin-guide/mm/pagemap.rst: present, or swapped. */
#define IS_THERE (UINT64_C(3) << 62)
/* Asked about at once: at first, and where those had nothing. */
#define N_FIRST 64
#define N_MORE	4096

/* The same document, since Linux 6.7; not in the headers of before. */
#define IS_PRESENT (UINT64_C(1) << 3)
#define IS_SWAPPED (UINT64_C(1) << 4)

struct scan_region {
	uint64_t start, end, categories;
};

struct scan {
	uint64_t size, flags, start, end, walk_end, regions, n_regions, max_pages;
	uint64_t inverted, all_of, any_of, told;
};

#define SCAN _IOWR('f', 16, struct scan)

void heap_memory_begin(struct heap_memory *m, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	m->pid = pid;
	m->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	m->has_pagemap = m->pagemap >= 0;
	m->has_scan = m->has_pagemap;
}

void heap_memory_fini(struct heap_memory *m)
{
	if (m->has_pagemap)
		close(m->pagemap);
	*m = (struct heap_memory){ 0 };
}

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Of as many pages from one on, or fewer: how many were told. */
static size_t ask(const struct heap_memory *m, uint64_t page, uint64_t *pages, size_t n)
{
	ssize_t size = 0;

	if (m->has_pagemap)
		size = pread(m->pagemap, pages, n * sizeof(*pages),
			     (off_t)(page * sizeof(*pages)));
	return size > 0 ? (size_t)size / sizeof(*pages) : 0;
}

/* Where what begins there is as it is at its beginning: there, or not. */
static uint64_t run_end(const struct heap_memory *m, uint64_t at, uint64_t end,
			bool *ret_is_there)
{
	uint64_t pages[N_FIRST], bytes = page_bytes(), first = at / bytes;
	size_t n = ask(m, first, pages, N_FIRST), i = 1;

	*ret_is_there = !n || (pages[0] & IS_THERE);
	if (!n)
		return end;
	while (i < n && !(pages[i] & IS_THERE) == !(pages[0] & IS_THERE))
		i++;
	return (end - 1) / bytes - first < i ? end : (first + i) * bytes;
}

bool heap_memory_read(void *ctx, uint64_t address, void *to, size_t size)
{
	const struct heap_memory *m = ctx;
	uint64_t at = address, end = address + size;
	uint8_t *bytes = to;

	while (at < end) {
		bool is_there;
		uint64_t until = run_end(m, at, end, &is_there);
		size_t n = (size_t)(until - at);

		if (!is_there)
			memset(bytes, 0, n);
		else if (proc_wait_memory(m->pid, at, bytes, n) != n)
			return false;
		bytes += n;
		at = until;
	}
	return true;
}

bool heap_memory_read_blocks(void *ctx, uint64_t address, void *to, size_t size)
{
	const struct heap_memory *m = ctx;

	if (size < page_bytes())
		return proc_wait_memory(m->pid, address, to, size) == size;
	return heap_memory_read(ctx, address, to, size);
}

/* Where the first page is that is there; false: the kernel cannot look for it.  What has
 * no tables of pages costs it nothing: the shadow of a program that checks its own
 * addresses is terabytes of which megabytes are there. */
static bool find(const struct heap_memory *m, uint64_t from, uint64_t end, uint64_t *ret)
{
	uint64_t bytes = page_bytes();
	struct scan_region first = { 0 };
	struct scan s = { .size = sizeof(s),
			  .start = from,
			  .end = (end + bytes - 1) / bytes * bytes,
			  .regions = (uintptr_t)&first,
			  .n_regions = 1,
			  .max_pages = 1,
			  .any_of = IS_PRESENT | IS_SWAPPED,
			  .told = IS_PRESENT | IS_SWAPPED };
	int n = ioctl(m->pagemap, SCAN, &s);

	if (n < 0)
		return false;
	*ret = n ? first.start : end;
	return true;
}

uint64_t heap_memory_skip(void *ctx, uint64_t address, uint64_t end)
{
	struct heap_memory *m = ctx;
	uint64_t pages[N_MORE], bytes = page_bytes();

	for (size_t want = N_FIRST; address < end; want = N_MORE) {
		uint64_t first = address / bytes;
		size_t n = ask(m, first, pages, want), i = 0;

		while (i < n && !(pages[i] & IS_THERE))
			i++;
		if (i)
			address = (first + i) * bytes;
		if (i < n || !n || want == N_MORE || address >= end)
			break;
		m->has_scan = m->has_scan && find(m, address, end, &address);
		if (m->has_scan)
			break;
	}
	return address < end ? address : end;
}
