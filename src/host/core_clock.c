/* SPDX-License-Identifier: Apache-2.0 */
#include "host/core_clock.h"

#include <stdint.h>

#include "host/clock.h"

#define N_RUNS	    12
#define N_ADDITIONS 64000 /* multiple of 8 */

/* Every core takes one cycle to add a register to itself, and cannot leave it out. */
static void add_one_after_the_other(void)
{
	uint64_t x = 1;

	for (unsigned i = 0; i < N_ADDITIONS / 8; i++) {
#if defined(__x86_64__)
		__asm__ volatile(
			"add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\t"
			"add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0"
			: "+r"(x));
#elif defined(__aarch64__)
		__asm__ volatile("add %0, %0, %0\n\tadd %0, %0, %0\n\t"
				 "add %0, %0, %0\n\tadd %0, %0, %0\n\t"
				 "add %0, %0, %0\n\tadd %0, %0, %0\n\t"
				 "add %0, %0, %0\n\tadd %0, %0, %0"
				 : "+r"(x));
#endif
	}
}

/* The quickest run is one that nothing interrupted. */
unsigned core_clock_measure(void)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < N_RUNS; i++) {
		uint64_t from = clock_monotonic_ns(), took;

		add_one_after_the_other();
		took = clock_monotonic_ns() - from;
		if (took && took < best)
			best = took;
	}
	return (unsigned)((double)N_ADDITIONS * 1000 / (double)best);
}
