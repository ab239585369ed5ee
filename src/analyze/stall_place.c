/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_place.h"

#include <math.h>

bool stall_place_take(struct stall_place *ret, const struct function_code *c,
		      uint32_t function, const struct stalls *s, uint32_t block,
		      uint32_t step)
{
	const struct procedure *p = c->procedure;
	bool is_arrival = step == PROCEDURE_OUTSIDE;
	const struct stall *stall =
		is_arrival ? &s->of_arrival[block] : &s->of_step[step];
	const struct function_code_block *b = &c->blocks[block];
	double cycles = b->times * stall->cycles;

	if (stall->cycles <= 0 || stall->is_chance)
		return false;
	*ret = (struct stall_place){ .function = function,
				     .address = is_arrival ? p->blocks[block].start
							   : p->steps[step].address,
				     .is_arrival = is_arrival,
				     .times = b->times,
				     .cycles = cycles,
				     .cycles_low = cycles,
				     .cycles_high = cycles,
				     .stall = *stall };
	/* The fewer times, the longer each. */
	if (stall->low < stall->high) {
		ret->cycles_low = fmin(cycles, stall->low * b->times_high);
		ret->cycles_high = fmax(cycles, stall->high * b->times_low);
	}
	for (unsigned i = 0; i < stall->n; i++)
		if (stall->culprits[i].blamed != PROCEDURE_OUTSIDE)
			ret->blamed[i] = p->steps[stall->culprits[i].blamed].address;
	return true;
}
