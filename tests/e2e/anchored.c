/* SPDX-License-Identifier: Apache-2.0
 *
 * anchored N: N times a turn of two kinds of work, each so often as the names say.
 *
 * A turn takes some tens of microseconds: rare enough for a CPU to stop at it.
 */
#include <stdio.h>
#include <stdlib.h>

#define PLAIN  100000
#define DIVIDE 10000

static __attribute__((noinline)) unsigned long add_100000(unsigned long x)
{
	for (unsigned i = 0; i < PLAIN; i++)
		__asm__ volatile("add $3, %0" : "+r"(x));
	return x;
}

static __attribute__((noinline)) unsigned long divide_10000(unsigned long x)
{
	for (unsigned i = 0; i < DIVIDE; i++)
		__asm__ volatile("xor %%edx, %%edx; div %1"
				 : "+a"(x)
				 : "r"(3UL)
				 : "rdx", "cc");
	return x;
}

static __attribute__((noinline)) unsigned long turn(unsigned long x)
{
	return divide_10000(add_100000(x));
}

int main(int argc, char **argv)
{
	unsigned long x = 1, n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;

	while (n--)
		x = turn(x);
	printf("%lu\n", x);
	return 0;
}
