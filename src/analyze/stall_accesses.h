/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_accesses - how often an instruction of a loop comes to a line or page that is not
 * at hand, by the addresses that it was seen to access after samples.
 *
 * A loop that uses few lines, again and again, has them at hand.  Whatever was not seen
 * counts as elsewhere, and so does what chance may hide.  How often an instruction goes
 * on to another line is no evidence, though that was seen, too: samples are taken where
 * it was slow, so that their ways begin right behind such a step more often than not.
 */
#ifndef DWELL_ANALYZE_STALL_ACCESSES_H
#define DWELL_ANALYZE_STALL_ACCESSES_H

#include "analyze/stall_loop.h"

/* 1: nothing is told. */
struct stall_reach stall_accesses_reach(const struct stall_loop *l, uint32_t step);

#endif
