/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * each - one by one, what is summed as well.
 */
#ifndef DWELL_COLLECT_BPF_EACH_BPF_H
#define DWELL_COLLECT_BPF_EACH_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "wire/stack_record.h"

/* Set before loading: each is told. */
const volatile bool tells_each = false;

/* Of a sum that is kept: it ended at that time, and took so long.  Its number comes by
 * memory, where the verifier cannot follow it: see sums_find(). */
static __always_inline void each_tell(const uint32_t *sum, uint64_t ns, uint64_t end_ns)
{
	uint32_t number = *(const volatile uint32_t *)sum;
	struct stack_record_each r = {
		.kind = STACK_RECORD_EACH, .key = number, .from_ns = end_ns - ns, .ns = ns
	};
	struct stack_record_stats *st = sums_stats();
	void *ring = sums_ring();

	if (tells_each && ns && sums_is_good(number) && ring && st &&
	    !taking_put(ring, &r, sizeof(r), false))
		st->lost++;
}

#endif
