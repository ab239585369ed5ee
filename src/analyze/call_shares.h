/* SPDX-License-Identifier: Apache-2.0
 *
 * call_shares - what functions took, handed on to those that called them, in proportion
 * to how often they did.
 *
 * Exact counts have no stacks, only calls and their number.  So a function that takes
 * long when one caller calls it, and is short for another, is charged to both alike: that
 * is the bias of this rule.  Programs do not mix: a library's function is another one in
 * each.  Functions that call each other in a circle are one to those outside.  Immutable
 * once made.
 */
#ifndef DWELL_ANALYZE_CALL_SHARES_H
#define DWELL_ANALYZE_CALL_SHARES_H

#include "analyze/block_graph.h"
#include "analyze/profile_data.h"

struct call_shares;

/* A call, or a jump to a function's begin, from one place, in one program. */
struct call_shares_site {
	uint32_t caller, callee; /* functions; of the code, not inlined ones */
	uint32_t location;	 /* the instruction that calls */
	uint32_t entry;		 /* location that is called */
	uint64_t times;
	uint32_t from, to; /* nodes: what caller and callee are in this program */
};

/* Of a source whose samples are summed.  Borrows the profile; g: by program. */
struct call_shares *call_shares_new(const struct profile *p, const struct input *s,
				    const struct block_graph *g);
void call_shares_free(struct call_shares *c);

size_t call_shares_n_sites(const struct call_shares *c);
const struct call_shares_site *call_shares_site(const struct call_shares *c, size_t i);
/* What the calls from there took, one value for each column of the source: as part of
 * what the caller has, and of what the callee has; in a circle these differ. */
void call_shares_values(const struct call_shares *c, size_t site, double *ret);
void call_shares_taken(const struct call_shares *c, size_t site, double *ret);

#endif
