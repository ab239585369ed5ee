/* SPDX-License-Identifier: Apache-2.0 */
/* What a stack costs: nanoseconds per stack of 23 frames, a library's frame among them,
 * by our walkers and by libunwind.  The best of several rounds; every way must find the
 * same number of frames. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "base/own.h"
#include "unwind/local.h"
#include "unwind/offline.h"

#define FRAMES	   23
#define ROUNDS	   7
#define WALKS	   20000
#define SLOW_WALKS 300
#define MAX	   128
#define MAX_MAPS   256

struct maps {
	struct unwind_map at[MAX_MAPS];
	size_t n;
};

struct bench {
	struct unwind_local_cache *cache;
	uintptr_t stack_lo, stack_hi;
	struct maps maps;
	ucontext_t context;
	struct unwind_regs regs;
	uint8_t *copy;
	uint64_t copy_addr;
	size_t copy_size;
};

static struct bench bench;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static const struct unwind_map *find_map(void *ctx, uint64_t pc)
{
	const struct maps *m = ctx;

	for (size_t i = 0; i < m->n; i++)
		if (pc >= m->at[i].start && pc < m->at[i].end)
			return &m->at[i];
	return NULL;
}

static size_t walk_offline(void)
{
	struct unwind_memory memory = { .stack = bench.copy,
					.stack_addr = bench.copy_addr,
					.stack_size = bench.copy_size };
	struct unwind_frame frames[MAX];
	enum unwind_stop stop;

	return unwind_offline(&bench.regs, &memory, find_map, &bench.maps, frames, MAX,
			      &stop);
}

static size_t walk_local(struct unwind_local_cache *cache, const ucontext_t *uc)
{
	uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8];
	uintptr_t pcs[MAX];
	enum unwind_stop stop;

	return unwind_local(cache, uc, bench.stack_lo, bench.stack_hi, pcs, exact, MAX,
			    &stop);
}

static size_t walk_verified(void)
{
	return walk_local(bench.cache, NULL);
}

/* Alternating with a walk of two frames, so that nothing of the last stack matches. */
static size_t walk_rows(void)
{
	uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8];
	uintptr_t pcs[2];
	enum unwind_stop stop;

	unwind_local(bench.cache, NULL, bench.stack_lo, bench.stack_hi, pcs, exact, 2,
		     &stop);
	return walk_local(bench.cache, NULL);
}

static size_t walk_context(void)
{
	return walk_local(bench.cache, &bench.context);
}

static size_t walk_cursor(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	size_t n = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do
		n++;
	while (unw_step(&cursor) > 0);
	return n;
}

static size_t walk_unw_backtrace(void)
{
	void *pcs[MAX];

	return (size_t)unw_backtrace(pcs, MAX);
}

static const struct {
	const char *name;
	size_t (*walk)(void);
	unsigned n;
} ways[] = {
	{ "unwind_offline, rows cached", walk_offline, WALKS },
	{ "unwind_local, last stack verified", walk_verified, WALKS },
	{ "unwind_local, rows cached (and a walk of 2)", walk_rows, WALKS },
	{ "unwind_local, from a signal context", walk_context, WALKS },
	{ "libunwind unw_backtrace, warm", walk_unw_backtrace, WALKS },
	{ "libunwind cursor", walk_cursor, SLOW_WALKS },
};

static void measure(void)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		double best = 1e18;
		size_t n = ways[i].walk();

		for (unsigned round = 0; round < ROUNDS; round++) {
			uint64_t start = now_ns();

			for (unsigned k = 0; k < ways[i].n; k++)
				ways[i].walk();

			double ns = (double)(now_ns() - start) / ways[i].n;

			best = ns < best ? ns : best;
		}
		printf("%-44s %3zu frames %8.0f ns %6.1f ns/frame\n", ways[i].name, n,
		       best, best / (double)n);
	}
}

static void copy_stack(void)
{
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_R8,	REG_R9,	 REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

	bench.regs =
		(struct unwind_regs){ .arch = UNWIND_X86_64, .valid = (1 << 17) - 1 };
	for (int i = 0; i < 17; i++)
		bench.regs.r[i] = (uint64_t)bench.context.uc_mcontext.gregs[order[i]];
	bench.copy_addr = bench.regs.r[UNWIND_X86_64_RSP] - 128;
	bench.copy_size = bench.stack_hi - bench.copy_addr;
	bench.copy = malloc(bench.copy_size);
	memcpy(bench.copy, (const void *)bench.copy_addr, bench.copy_size);
}

static int compare(const void *a, const void *b)
{
	static int is_done;

	if (!is_done) {
		is_done = 1;
		getcontext(&bench.context);
		copy_stack();
		measure();
	}
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) int deep(int n)
{
	int v[] = { 2, 1 };

	if (n)
		v[0] += deep(n - 1);
	else
		qsort(v, 2, sizeof(v[0]), compare);
	__asm__ volatile("" : : "r"(v) : "memory"); /* or the recursion becomes a loop */
	return v[0];
}

static struct unwind_image *open_image(const char *path)
{
	struct unwind_image *image = NULL;
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err e;

	return fd < 0 || unwind_image_open(fd, path, &image, &e) < 0 ? NULL : image;
}

static void read_maps(void)
{
	own(fclosep) FILE *f = fopen("/proc/self/maps", "re");
	char line[1024], path[512];
	struct unwind_map m = { 0 };

	while (f && fgets(line, sizeof(line), f) && bench.maps.n < MAX_MAPS) {
		char perms[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %511s",
			   &m.start, &m.end, perms, &m.file_offset, path) != 5 ||
		    perms[2] != 'x' || path[0] != '/')
			continue;
		m.image = open_image(path);
		bench.maps.at[bench.maps.n++] = m;
	}
}

int main(void)
{
	pthread_attr_t attr;
	void *low;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	bench.stack_lo = (uintptr_t)low;
	bench.stack_hi = bench.stack_lo + size;
	unwind_local_refresh();
	bench.cache = calloc(1, unwind_local_cache_bytes());
	read_maps();
	deep(FRAMES - 9);
	free(bench.cache);
	free(bench.copy);
	for (size_t i = 0; i < bench.maps.n; i++)
		unwind_image_free(bench.maps.at[i].image);
	return 0;
}
