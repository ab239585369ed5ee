/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * steps - how many were how large, in powers of two.
 */
#ifndef DWELL_COLLECT_BPF_STEPS_BPF_H
#define DWELL_COLLECT_BPF_STEPS_BPF_H

#include "collect/bpf/kernel.bpf.h"

/* How often it can be halved.  Not static: verified by itself, once. */
__noinline uint32_t steps_bits(uint64_t n)
{
	uint32_t bits = 0;

	for (uint32_t half = 32; half; half /= 2)
		if (n >> half) {
			n >>= half;
			bits += half;
		}
	return bits + (n != 0);
}

static __always_inline void steps_charge(uint32_t *steps, uint32_t n_steps, uint64_t n)
{
	uint32_t step = steps_bits(n);

	if (step >= n_steps)
		step = n_steps - 1;
	__sync_fetch_and_add(&steps[step], 1);
}

#endif
