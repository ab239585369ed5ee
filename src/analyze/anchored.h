/* SPDX-License-Identifier: Apache-2.0
 *
 * anchored - how often a function's blocks and ways were executed, where exact counts of
 * now and then tell that (analyze/anchoring).
 *
 * Blocks are as often as these tell; what was in no window, and the ways between them,
 * are as the flow between all of these and the directions that were seen have it.
 */
#ifndef DWELL_ANALYZE_ANCHORED_H
#define DWELL_ANALYZE_ANCHORED_H

struct anchoring_block;
struct function_code;

/* blocks: of the procedure. */
void anchored_estimate(struct function_code *c, const struct anchoring_block *blocks);

#endif
