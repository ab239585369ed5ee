/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_place - an instruction that stalls, or a way, by addresses: what is left when the
 * function's code is no longer needed.
 */
#ifndef DWELL_ANALYZE_STALL_PLACE_H
#define DWELL_ANALYZE_STALL_PLACE_H

#include "analyze/stall.h"

struct stall_place {
	uint32_t function;
	uint64_t address;     /* of the instruction; of a way, where it leads to */
	bool is_arrival;      /* it was waited on the way */
	double times, cycles; /* executed; stalled, all times together */
	double cycles_low, cycles_high; /* the same, where how often was counted */
	struct stall stall;
	uint64_t blamed[STALL_MAX_CULPRITS]; /* addresses, 0: none in particular */
};

/* Of a step of the block; PROCEDURE_OUTSIDE: of the way there.  False: it does not stall,
 * or that may be chance. */
bool stall_place_take(struct stall_place *ret, const struct function_code *c,
		      uint32_t function, const struct stalls *s, uint32_t block,
		      uint32_t step);

#endif
