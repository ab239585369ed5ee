/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_scales - where the cycles of functions went, where how often is an estimate: by
 * each of several numbers, from the begins of the blocks' ranges to their ends.
 *
 * What is not known is mostly one number for a whole function, so its blocks go up
 * together, and so do all functions, which are guessed at alike.  Fewer times leave more
 * of the cycles to stalls; but what costs so much at most each time may be most in
 * between, and in each function elsewhere: so causes have bounds of their own.
 */
#ifndef DWELL_ANALYZE_STALL_SCALES_H
#define DWELL_ANALYZE_STALL_SCALES_H

#include "analyze/stall_sum.h"

#define STALL_SCALES_MANY                                                                \
	9 /* of a range that goes to the thirtyfold: half as much more */

/* All zeros at first. */
struct stall_scales {
	struct stall_sum at[STALL_SCALES_MANY]; /* the fewest times first */
	double low[STALL_N_CAUSES], high[STALL_N_CAUSES];
};

/* A function's, of which something can be told (stall_sum_add). */
void stall_scales_add(struct stall_scales *to, const struct function_code *c);
void stall_scales_merge(struct stall_scales *to, const struct stall_scales *from);
/* Once all are added. */
void stall_scales_settle(struct stall_scales *s);

#endif
