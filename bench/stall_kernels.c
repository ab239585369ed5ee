/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_kernels - runs a loop that stalls for a reason that is known.
 *
 *	usage: stall_kernels		what there is: name, cause, where it is planted,
 *text stall_kernels NAME SECONDS	prints how often it went round stall_kernels NAME
 *=TURNS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum memory { BLOCK, BLOCK_DRAM, TABLE, RING_L1, RING_L2, RING_DRAM, RING_PAGES };

void kernel_reference(uint64_t n, void *memory);

#define KERNEL(name, memory, threads, cause, text)                                       \
	void kernel_##name(uint64_t n, void *memory_);                                   \
	extern const uint64_t planted_##name;
#include "stall_kernels.def"
#undef KERNEL

static const struct kernel {
	const char *name;
	enum memory memory;
	unsigned n_threads;
	const char *cause, *text;
	const uint64_t *planted;
	void (*run)(uint64_t n, void *memory);
} kernels[] = {
#define KERNEL(name, memory, threads, cause, text)                                       \
	{ #name, memory, threads, cause, text, &planted_##name, kernel_##name },
#include "stall_kernels.def"
#undef KERNEL
};

enum {
	N_PARTS = 20,
	REFERENCE_TURNS = 400000, /* of 60 cycles */
};

#define N_KERNELS (sizeof(kernels) / sizeof(*kernels))

/* Bytes, how far apart pointers are, and what each is farther within its page. */
static const struct layout {
	size_t bytes, step, shift;
} layouts[] = {
	[BLOCK] = { 4096, 0, 0 },
	[BLOCK_DRAM] = { 128 << 20, 0, 0 },
	[TABLE] = { 4096, 0, 0 },
	[RING_L1] = { 4096, 64, 0 },
	[RING_L2] = { 256 << 10, 64, 0 },
	[RING_DRAM] = { 256 << 20, 64, 0 },
	[RING_PAGES] = { 32 << 20, 4096, 64 },
};

static uint64_t chance = 88172645463325252ull;

static uint64_t below(uint64_t n)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return chance % n;
}

static char *place(char *memory, const struct layout *l, size_t i)
{
	return memory + i * l->step + i * l->shift % 4096;
}

/* One ring through all places in an order by chance (Sattolo). */
static void make_ring(char *memory, const struct layout *l)
{
	size_t n = l->bytes / l->step;
	uint32_t *order = malloc(n * sizeof(*order));

	if (!order)
		exit(1);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t k = below(i);
		uint32_t other = order[k];

		order[k] = order[i];
		order[i] = other;
	}
	for (size_t i = 0; i < n; i++)
		*(void **)place(memory, l, i) = place(memory, l, order[i]);
	free(order);
}

/* Pages of walks are small ones, all others large, so that each is one thing. */
static void *prepare(enum memory memory)
{
	const struct layout *l = &layouts[memory];
	size_t bytes = (l->bytes + (2 << 20) - 1) & ~(size_t)((2 << 20) - 1);
	char *at = aligned_alloc(2 << 20, bytes);

	if (!at)
		exit(1);
	madvise(at, bytes, memory == RING_PAGES ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	memset(at, 0, bytes);
	if (l->step)
		make_ring(at, l);
	return at;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct job {
	const struct kernel *kernel;
	uint64_t n_turns;
	void *memory;
};

static void *work(void *arg)
{
	const struct job *j = arg;

	j->kernel->run(j->n_turns, j->memory);
	return NULL;
}

static void run(const struct kernel *k, uint64_t n_turns, char *memory)
{
	struct job other = { k, n_turns, memory + 8 };
	pthread_t thread;
	int is_two = k->n_threads > 1 && pthread_create(&thread, NULL, work, &other) == 0;

	k->run(n_turns, memory);
	if (is_two)
		pthread_join(thread, NULL);
}

static void run_in_parts(const struct kernel *k, uint64_t n_turns, char *memory)
{
	for (unsigned i = 0; i < N_PARTS; i++) {
		kernel_reference(REFERENCE_TURNS, NULL);
		run(k, n_turns / N_PARTS + 1, memory);
	}
}

static uint64_t calibrate(const struct kernel *k, char *memory, double seconds)
{
	uint64_t n = 1;

	for (;;) {
		double begun = now(), took;

		run(k, n, memory);
		took = now() - begun;
		if (took > seconds / 10)
			return (uint64_t)((double)n * seconds / took) + 1;
		n *= 2;
	}
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < N_KERNELS; i++) {
		const struct kernel *k = &kernels[i];
		char *memory;

		if (argc < 3) {
			printf("%s\t%s\t%llu\t%s\n", k->name, k->cause,
			       (unsigned long long)*k->planted, k->text);
			continue;
		}
		if (strcmp(k->name, argv[1]) != 0)
			continue;
		memory = prepare(k->memory);
		if (argv[2][0] == '=')
			run_in_parts(k, strtoull(argv[2] + 1, NULL, 10), memory);
		else
			printf("%llu\n", (unsigned long long)calibrate(
						 k, memory, strtod(argv[2], NULL)));
		return 0;
	}
	return argc < 3 ? 0 : 1;
}
