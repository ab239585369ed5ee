/* SPDX-License-Identifier: Apache-2.0
 *
 * count_forest - flow through parts of code that ways without a counter join, told from
 * what is counted.
 *
 * The engine leaves out the counters of ways that close no circle, so these make trees
 * of the parts; part 0, outside of all code, is a root.  What flows between a part and
 * the one above it is all that is counted into or out of what is below: so only those
 * parts are looked at that something flows through, however many there are.  Trees grow
 * and join; the smaller one is turned around.
 */
#ifndef DWELL_COLLECT_COUNT_FOREST_H
#define DWELL_COLLECT_COUNT_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct count_forest_part {
	int64_t balance;     /* what is known to flow in, less what flows out */
	uint32_t depth;	     /* of its tree; 0: the root */
	uint32_t up;	     /* the way to the part above */
	uint32_t first;	     /* end of a way, below */
	uint32_t set, n_set; /* for joining; of how many, if it is its own */
	uint32_t next;	     /* of those of one depth that are to be looked at; 0: none */
	bool is_noted;	     /* it is one of them */
};

struct count_forest_way {
	uint32_t part[2]; /* from, to */
	uint32_t next[2]; /* of each part's ends: twice the way and which, 0: none */
	uint32_t user;
};

struct count_forest {
	VEC(struct count_forest_part) parts;
	VEC(struct count_forest_way) ways; /* 0 is none */
	VEC(uint32_t) noted;		   /* parts, by depth; 0: none */
	VEC(uint32_t) turning;
};

/* With part 0. */
void count_forest_init(struct count_forest *f);
void count_forest_fini(struct count_forest *f);

uint32_t count_forest_add(struct count_forest *f);
/* By a way that is the user's of that number.  False: it closes a circle, and cannot be
 * told. */
bool count_forest_join(struct count_forest *f, uint32_t from, uint32_t to, uint32_t user);

/* Between joining and telling: so much is known to flow there. */
void count_forest_flow(struct count_forest *f, uint32_t from, uint32_t to, uint64_t n);

typedef void count_forest_fn(void *ctx, uint32_t user, int64_t n);

/* Each way that something flows on, n; what is known is forgotten.  Returns how much of
 * it came from or went nowhere. */
uint64_t count_forest_tell(struct count_forest *f, count_forest_fn *fn, void *ctx);

#endif
