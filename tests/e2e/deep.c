/* SPDX-License-Identifier: Apache-2.0
 *
 * Two ways down to the same deep recursion, in turns of some microseconds: all frames
 * but the outermost are the same in both.  `shorter` has 30 % of the time at the bottom,
 * `longer` 70 %.  usage: deep DEPTH ROUNDS: 250 bytes of stack a level
 */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

NOINLINE static void spin(long n)
{
	for (long i = 0; i < n; i++)
		sink += (unsigned long)i;
}

NOINLINE static int descend(int depth, long n)
{
	volatile char pad[200];

	pad[0] = (char)depth;
	if (depth)
		return descend(depth - 1, n) + pad[0];
	spin(n);
	return pad[0];
}

NOINLINE static int shorter(int depth)
{
	return descend(depth, 30000) + 1;
}

NOINLINE static int longer(int depth)
{
	return descend(depth, 70000) + 2;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 1000;
	int rounds = argc > 2 ? atoi(argv[2]) : 10000;

	for (int i = 0; i < rounds; i++) {
		sink += (unsigned long)shorter(depth);
		sink += (unsigned long)longer(depth);
	}
	return 0;
}
