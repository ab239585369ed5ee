/* SPDX-License-Identifier: Apache-2.0
 *
 * region_load - what a region costs its program, in turns with what it is to be compared
 * with. Prints, for each of some rounds, nanoseconds a time: an empty call, two reads of
 * the CPU's counter, two of the kernel's clock, a region, a region of a group that is
 * off. usage: region_load [ROUNDS]
 */
#include <dwell.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TIMES 200000

DWELL_REGION(region, "load", NULL);
DWELL_REGION(off, "off", "off");

static __attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}

static void empty_call(void)
{
	nothing();
}

static uint64_t counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

static void two_counters(void)
{
	volatile uint64_t v = counter();

	v = counter() - v;
}

static void two_clocks(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	clock_gettime(CLOCK_MONOTONIC, &t);
}

static void begin_and_end(void)
{
	dwell_begin(&region);
	dwell_end(&region);
}

static void begin_and_end_off(void)
{
	dwell_begin(&off);
	dwell_end(&off);
}

static double ns_of(void (*what)(void))
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < TIMES; i++)
		what();
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 +
		(double)(to.tv_nsec - from.tv_nsec)) /
	       TIMES;
}

int main(int argc, char **argv)
{
	static void (*const all[])(void) = { empty_call, two_counters, two_clocks,
					     begin_and_end, begin_and_end_off };
	int n_rounds = argc > 1 ? atoi(argv[1]) : 20;

	dwell_switch("off", 0);
	for (int i = 0; i < n_rounds; i++) {
		for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
			printf("%s%.2f", k ? " " : "", ns_of(all[k]));
		putchar('\n');
	}
	return 0;
}
