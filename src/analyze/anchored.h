/* SPDX-License-Identifier: Apache-2.0
 *
 * anchored - how often a function's blocks and ways were executed, where exact counts of
 * now and then tell that (analyze/anchoring).
 *
 * Blocks are as often as these tell, and ways out of them have the part of that which
 * they had in windows; what was in no window is as the flow between all of these and the
 * directions that were seen have it, and so are ways into the function.
 */
#ifndef DWELL_ANALYZE_ANCHORED_H
#define DWELL_ANALYZE_ANCHORED_H

#include <stdbool.h>

struct anchoring_block;
struct anchoring_way;
struct function_code;

/* blocks, ways: of the procedure.  False: most of the function's time is of blocks that
 * no window met. */
bool anchored_estimate(struct function_code *c, const struct anchoring_block *blocks,
		       const struct anchoring_way *ways);

#endif
