/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_wishes - memory that samples should copy, because what they tell depended on it.
 *
 * A few places, as many as there are slots, that were missed more than once lately; the
 * one that was wished for first makes room for the next.  Owned by its caller.
 */
#ifndef DWELL_COLLECT_PERF_WISHES_H
#define DWELL_COLLECT_PERF_WISHES_H

#include <stdbool.h>
#include <stdint.h>

#define PERF_WISHES_SLOTS      16
#define PERF_WISHES_CANDIDATES 64
/* A slot has the process above, and below the address of a block of 256 bytes without
 * these bits. */
#define PERF_WISHES_PID_SHIFT 40

struct perf_wishes {
	uint64_t slots[PERF_WISHES_SLOTS];	 /* 0: none */
	unsigned next;				 /* slot to be filled */
	uint64_t missed[PERF_WISHES_CANDIDATES]; /* the newest first; once each */
};

/* A sample had needed it.  True: a slot has changed, which the BPF program is to be told
 * of. */
bool perf_wishes_miss(struct perf_wishes *w, uint32_t pid, uint64_t addr,
		      uint32_t *ret_slot);

#endif
