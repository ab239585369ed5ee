/* SPDX-License-Identifier: Apache-2.0
 *
 * plan - which of a block's ways get a counter.
 */
#ifndef DWELL_COUNT_PLAN_H
#define DWELL_COUNT_PLAN_H

#include <stdbool.h>

#include "count/block.h"
#include "count/place.h"

struct plan {
	bool counts_inside; /* the block as a whole */
	bool counts_on;	    /* the way to the next by address */
	bool counts_to;	    /* the way to the target */
};

/* Where a block leads; NULL: nowhere, or nobody knows. */
struct ways {
	struct place *on; /* the next by address, where its callee returns to */
	struct place *to; /* the target */
};

struct ways plan_ways(const struct block *b, uint32_t nest);

/* Joins what is not counted. */
struct plan plan_block(const struct block *b, struct place *p, const struct ways *w);

/* The way from a chosen function's entry to the same in the nest that is entered. */
struct plan plan_entry(struct place *p, const struct place *entered);

/* Returns to p: true if they are to be counted there. */
bool plan_returns(struct place *p);

#endif
