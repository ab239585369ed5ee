/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations with a known count.  Each of N rounds frees one of 4096 slots and fills
 * it with malloc(16..1039) through layer1, layer2, layer3 and get; every 16th also
 * does a calloc and a free, every 32nd doubles its slot by realloc.
 *
 * Leaks: exactly 1000 blocks of 100 bytes from leak_small and 10 of 10,000 bytes from
 * leak_big.
 *
 *	usage: heap [N [STEPS]]	(10,000,000; STEPS of other work in each round)
 */
#include <stdio.h>

#include "workload.h"

#define SLOTS 4096

static void *slots[SLOTS];
static void *volatile escape;
static volatile unsigned long sink;
static unsigned long seed = 12345;

NOINLINE static void compute(long steps)
{
	sink = WORKLOAD_STEPS(sink | 1, steps);
}

/* Touches both ends, as real code would. */
NOINLINE static void *get(size_t n)
{
	char *p = malloc(n);

	p[0] = 1;
	p[n - 1] = 2;
	return p;
}

NOINLINE static void *layer3(size_t n)
{
	return escape = get(n);
}

NOINLINE static void *layer2(size_t n)
{
	return escape = layer3(n);
}

NOINLINE static void *layer1(size_t n)
{
	return escape = layer2(n);
}

NOINLINE static void churn(long round)
{
	unsigned r = workload_random(&seed);
	unsigned slot = r % SLOTS;
	size_t n = 16 + (r >> 12 & 1023);

	free(slots[slot]);
	slots[slot] = layer1(n);
	if (round % 16 == 0) {
		escape = calloc(1, n);
		free(escape);
	}
	if (round % 32 == 0)
		slots[slot] = realloc(slots[slot], n * 2);
}

NOINLINE static void leak_small(void)
{
	escape = malloc(100);
}

NOINLINE static void leak_big(void)
{
	escape = calloc(1, 10000);
}

int main(int argc, char **argv)
{
	long rounds = workload_arg(argc, argv, 1, 10000000);
	long steps = workload_arg(argc, argv, 2, 0);
	unsigned long sum = 0;

	for (long i = 0; i < rounds; i++) {
		churn(i);
		if (steps)
			compute(steps);
		sum += (unsigned long)i;
	}
	for (int i = 0; i < 1000; i++)
		leak_small();
	for (int i = 0; i < 10; i++)
		leak_big();
	for (int i = 0; i < SLOTS; i++)
		free(slots[i]);
	printf("%lu\n", sum);
	return 0;
}
