/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call tree whose times are known.  One unit is a million steps.
 *
 *	main does 2 itself and calls A and B; A calls C(10);
 *	B calls C(7.5), does 5 and calls C(7.5) again;
 *	C(x) does 20 % of x itself, 40 % in E and 40 % in F; F does half of its in G.
 *
 *	           main    A    B    C    E    F    G
 *	exclusive     2    0    5    5   10    5    5	(sum 32)
 *	inclusive    32   10   20   25   10   10    5
 *
 * C gets 10 from A and 15 from B.
 *
 *	usage: cpu [REPEAT]	(30: about a second)
 */
#include <stdio.h>

#include "workload.h"

static volatile unsigned long sink;

#define WORK(units) (sink = WORKLOAD_STEPS(sink | 1, (long)((units)*1e6)))

/* The increments keep the calls from becoming jumps. */
NOINLINE static void G(double units)
{
	WORK(units);
	sink++;
}

NOINLINE static void F(double units)
{
	WORK(units * 0.5);
	G(units * 0.5);
	sink++;
}

NOINLINE static void E(double units)
{
	WORK(units);
	sink++;
}

NOINLINE static void C(double units)
{
	WORK(units * 0.2);
	E(units * 0.4);
	F(units * 0.4);
	sink++;
}

NOINLINE static void A(void)
{
	C(10);
	sink++;
}

NOINLINE static void B(void)
{
	C(7.5);
	WORK(5);
	C(7.5);
	sink++;
}

int main(int argc, char **argv)
{
	long repeat = workload_arg(argc, argv, 1, 30);

	for (long i = 0; i < repeat; i++) {
		A();
		WORK(2);
		B();
	}
	printf("%lu\n", (unsigned long)sink);
	return 0;
}
