/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursion.  Each round runs even(40), where even and odd call each other 20 times
 * (2000 steps in each even, 1000 in each odd, 200,000 at the bottom, which is an even
 * one), and deep(1000), which calls itself 1000 times and does 300,000 steps at the
 * bottom.  All steps are in spin.
 *
 *	steps of a round: 20 * 2000 + 20 * 1000 + 200,000 = 260,000 under even
 *	                  300,000 under deep
 *	inclusive shares: main and spin 100 %, even 46.4 %, odd 46.1 % (all but the
 *	                  first even's own 2000), deep 53.6 %
 *
 *	usage: rec [ROUNDS]	(2000: about a second)
 */
#include <stdio.h>

#include "workload.h"

static volatile unsigned long sink;

NOINLINE static void spin(long n)
{
	sink = WORKLOAD_STEPS(sink | 1, n);
}

NOINLINE static void odd(int depth);

NOINLINE static void even(int depth)
{
	if (!depth) {
		spin(200000);
		sink++;
		return;
	}
	spin(2000);
	odd(depth - 1);
	sink++;
}

NOINLINE static void odd(int depth)
{
	if (!depth) {
		spin(200000);
		sink++;
		return;
	}
	spin(1000);
	even(depth - 1);
	sink++;
}

NOINLINE static void deep(int depth)
{
	if (!depth) {
		spin(300000);
		sink++;
		return;
	}
	deep(depth - 1);
	sink++;
}

int main(int argc, char **argv)
{
	long rounds = workload_arg(argc, argv, 1, 2000);

	for (long i = 0; i < rounds; i++) {
		even(40);
		deep(1000);
	}
	printf("%lu\n", sink);
	return 0;
}
