/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_events - the most that a cause may explain of a stall, by samples of the misses
 * that it is made of.
 *
 * Such a sample lands where the interrupt was taken, not where the miss was: any number
 * of instructions before, for what misses is begun long before it is the oldest, or
 * behind, for the interrupt comes late.  So all of them count that landed where this
 * instruction's may have; where these may be outside of the function, all that there are.
 */
#ifndef DWELL_ANALYZE_STALL_EVENTS_H
#define DWELL_ANALYZE_STALL_EVENTS_H

#include "analyze/stall.h"

struct stall_events_bound {
	double most;	   /* cycles each time; negative: nothing was sampled */
	const char *event; /* the profile's name of it */
};

/* block, step: where it would have happened; the stall is of that block's times. */
struct stall_events_bound stall_events_most(const struct function_code *c,
					    enum stall_cause cause, uint32_t block,
					    uint32_t step, double times);

#endif
