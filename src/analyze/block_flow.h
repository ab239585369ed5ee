/* SPDX-License-Identifier: Apache-2.0
 *
 * block_flow - how control goes on behind the basic blocks of a recording.
 *
 * Summed over all ways that were taken.  Blocks that end with the same instruction are
 * one site.
 */
#ifndef DWELL_ANALYZE_BLOCK_FLOW_H
#define DWELL_ANALYZE_BLOCK_FLOW_H

#include "analyze/block_graph.h"

/* Sites that go on at several places. */
struct block_flow_sites {
	uint64_t times;
	uint64_t n_sites, n_targets; /* targets of each site, added */
	uint64_t most;		     /* how often to the site's most frequent target */
};

struct block_flow {
	uint64_t n_blocks, entered;
	struct block_flow_sites branches; /* conditional */
	uint64_t taken;			  /* of those */
	uint64_t taken_forward, taken_backward;
	uint64_t jumps, calls, returns, system_calls;
	struct block_flow_sites indirect_jumps, indirect_calls;
};

void block_flow_sum(struct block_flow *ret, const struct block_graph *g,
		    const struct recording *r);
/* Taken branches, as processors count them: jumps, calls and returns with them. */
uint64_t block_flow_taken(const struct block_flow *f);

#endif
