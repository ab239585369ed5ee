/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops of which every x86-64 processor's manual says how long they take where nothing is
 * missing, and functions that call each other so that shares of calls are right.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TURNS 20000

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone, noipa))
#endif

/* 3 cycles each: multiplications one after the other. */
ALONE uint64_t products(uint64_t x)
{
	for (int i = 0; i < TURNS; i++)
		__asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
				 "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
				 "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
				 "imul %0, %0"
				 : "+r"(x));
	return x;
}

/* 1 cycle each. */
ALONE uint64_t sums(uint64_t x)
{
	for (int i = 0; i < TURNS; i++)
		__asm__ volatile(
			"add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\t"
			"add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\t"
			"add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0"
			: "+r"(x));
	return x;
}

/* The same work twice as often from one as from the other. */
ALONE uint64_t often(uint64_t x)
{
	return sums(sums(x)) + 1;
}

ALONE uint64_t rarely(uint64_t x)
{
	return sums(x) + 2;
}

/* usage: ideal_loops [TIMES], 1 unless told */
int main(int argc, char **argv)
{
	uint64_t x = (uint64_t)argc;

	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
		x = products(x);
		x += often(x) + rarely(x);
	}
	return printf("%d\n", (int)(x & 1)) < 0;
}
