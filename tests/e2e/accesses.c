/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions whose accesses of memory are known: one that walks, one that looks up in a
 * small table and branches by chance, one that goes where memory leads.  Prints where
 * their memory is.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WALKED	(16u << 20)
#define STRIDE	192u
#define ENTRIES 512u /* of eight bytes: 64 lines in a page */
#define NODES	(1u << 18)
#define LINE	64u

static uint64_t table[ENTRIES] __attribute__((aligned(4096)));

static uint64_t next(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}

__attribute__((noinline)) static uint64_t walk(const unsigned char *p, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i += STRIDE)
		sum += p[i];
	return sum;
}

__attribute__((noinline)) static uint64_t choose(const uint64_t *t, uint64_t n)
{
	uint64_t x = n, sum = 0;

	while (n--) {
		x = next(x);
		if (t[x >> 55] & 1) {
			sum += x;
			__asm__ volatile("" : "+r"(sum));
		} else {
			sum ^= n;
			__asm__ volatile("nop" : "+r"(sum));
		}
	}
	return sum;
}

__attribute__((noinline)) static void **chase(void **p, uint64_t n)
{
	while (n--)
		p = *p;
	return p;
}

/* A way through all lines, by chance (Sattolo). */
static void **make_way(void)
{
	char *nodes = aligned_alloc(LINE, (size_t)NODES * LINE);
	uint32_t *order = malloc(NODES * sizeof(*order));

	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	for (uint32_t i = NODES - 1; i; i--) {
		uint32_t k = (uint32_t)rand() % i, kept = order[i];

		order[i] = order[k];
		order[k] = kept;
	}
	for (uint32_t i = 0; i < NODES; i++) {
		void *to = nodes + (size_t)order[(i + 1) % NODES] * LINE;

		memcpy(nodes + (size_t)order[i] * LINE, &to, sizeof(to));
	}
	free(order);
	return (void **)(void *)nodes;
}

int main(void)
{
	unsigned char *walked = malloc(WALKED);
	void **way = make_way();
	uint64_t sum = 0, x = 1;

	memset(walked, 1, WALKED);
	for (unsigned i = 0; i < ENTRIES; i++) {
		x = next(x);
		table[i] = x >> 40;
	}
	printf("walk %" PRIuPTR " %u\n", (uintptr_t)walked, WALKED);
	printf("choose %" PRIuPTR " %zu\n", (uintptr_t)table, sizeof(table));
	printf("chase %" PRIuPTR " %zu\n", (uintptr_t)way, (size_t)NODES * LINE);
	for (unsigned turn = 0; turn < 100; turn++) {
		sum += walk(walked, WALKED);
		sum += choose(table, 400000);
		way = chase(way, 30000);
	}
	fprintf(stderr, "%" PRIu64 " %p\n", sum, (void *)way);
	return 0;
}
