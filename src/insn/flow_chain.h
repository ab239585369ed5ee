/* SPDX-License-Identifier: Apache-2.0
 *
 * flow_chain - how often each block of a graph is come to, given the share of each of the
 * ways out of every block.
 *
 * The graph is closed by what is outside, which is a place like the blocks: what leaves
 * comes in again.  Places are eliminated one after the other, those with few neighbours
 * first, without ever subtracting (Grassmann, Taksar, Heyman 1985): flows are never
 * negative, and keep to the last digits what comes in equal to what goes out.  Code
 * written by compilers takes linear time; what would take too much is refused.
 *
 * From every place a way must lead outside, and to every place one from there.
 */
#ifndef DWELL_INSN_FLOW_CHAIN_H
#define DWELL_INSN_FLOW_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow_chain;

struct flow_chain_way {
	uint32_t from, to; /* blocks; their number: outside */
};

/* NULL: too much work. */
struct flow_chain *flow_chain_new(uint32_t n_blocks, const struct flow_chain_way *ways,
				  size_t n_ways);
void flow_chain_free(struct flow_chain *c);
void flow_chain_freep(struct flow_chain **c);

/* shares: of each way, above 0, of what goes out of one place adding up to 1.  False: the
 * numbers are too far apart to be had. */
bool flow_chain_load(struct flow_chain *c, const double *shares);
/* For one that comes from outside: how often each block is come to. */
void flow_chain_flows(const struct flow_chain *c, double *ret);
/* What comes to each block if so much more begins at each. */
void flow_chain_push(const struct flow_chain *c, const double *more, double *ret);
/* What it is worth to come to each block, all that follows until outside included, if
 * each time that a block is come to is worth so much. */
void flow_chain_pull(const struct flow_chain *c, const double *worth, double *ret);

#endif
