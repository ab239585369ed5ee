/* SPDX-License-Identifier: Apache-2.0
 *
 * workload - what the workloads share: work that takes a known number of steps.
 *
 * A step is one turn of a linear congruential generator, whose result depends on the
 * one before, so that neither the compiler nor the CPU can skip or overlap any.
 */
#ifndef DWELL_TESTS_WORKLOAD_H
#define DWELL_TESTS_WORKLOAD_H

#include <stdlib.h>

/* A function that must stay one: with its own code, even when another has the same, and
 * its own frame on the stack. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

/* A macro, so that the steps belong to the function in which they stand and not to one
 * that was inlined there. */
#define WORKLOAD_STEPS(from, count)                                                      \
	({                                                                               \
		unsigned long x_ = (from);                                               \
                                                                                         \
		for (long n_ = (count); n_ > 0; n_--)                                    \
			x_ = x_ * 6364136223846793005UL + 1442695040888963407UL;         \
		x_;                                                                      \
	})

static inline unsigned workload_random(unsigned long *x)
{
	*x = WORKLOAD_STEPS(*x, 1);
	return (unsigned)(*x >> 33);
}

/* The nth word of the command line as a number. */
static inline long workload_arg(int argc, char **argv, int n, long otherwise)
{
	return argc > n ? atol(argv[n]) : otherwise;
}

#endif
