/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_growth - what waited longer in one run than in another that did the same work.
 *
 * Who does the same work executes the same instructions as often, however often that is:
 * so nothing but stalls can be longer, and by how much the samples tell, without knowing
 * how often.  Of each place the causes are those that cannot be ruled out of it in the
 * run that took longer there.
 */
#ifndef DWELL_ANALYZE_STALL_GROWTH_H
#define DWELL_ANALYZE_STALL_GROWTH_H

#include "analyze/stall.h"
#include "base/vec.h"

struct stall_growth_place {
	uint32_t function; /* of the second run */
	uint64_t address;  /* of the instruction; of a way, where it leads to */
	bool is_arrival;   /* it was waited on the way */
	double cycles;	   /* that it grew by, all times together; may be negative */
	unsigned causes;   /* bits */
};

/* In cycles of a run, of several recordings their mean. */
struct stall_growth {
	double cycles; /* all of the functions grew by; may be negative */
	double error;  /* chance may make so much of it, either way */
	/* Due to each cause at least and at most, and to none that is known. */
	double low[STALL_N_CAUSES], high[STALL_N_CAUSES], unexplained;
	double spread; /* what was too little at each place to tell of it */
	VEC(struct stall_growth_place) places;
};

/* Adds what the function grew by from a to b.  False: its code is not the same. */
bool stall_growth_add(struct stall_growth *to, const struct function_code *a,
		      const struct function_code *b, uint32_t function);
void stall_growth_fini(struct stall_growth *g);

#endif
