/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Naive Fibonacci numbers: all time is in fib, which is on the stack up to N deep.
 *
 *	usage: fib [N]	(38)
 */
#include <stdio.h>

#include "workload.h"

NOINLINE static long fib(long n)
{
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	printf("%ld\n", fib(workload_arg(argc, argv, 1, 38)));
	return 0;
}
