/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_loop - what a block goes on in: the blocks that are executed between one time and
 * the next, and what that tells of the places its instructions use.
 *
 * A loop whose code and addresses are known rules out causes: what is fetched or loaded
 * again and again at the same place is at hand.
 */
#ifndef DWELL_ANALYZE_STALL_LOOP_H
#define DWELL_ANALYZE_STALL_LOOP_H

#include "analyze/function_code.h"

struct stall_loop {
	const struct function_code *c;
	uint32_t block;
	uint32_t *blocks; /* it is one of them */
	uint32_t n_blocks;
	double entries;	     /* each time of the block: from elsewhere */
	double code_entries; /* the same, of the widest loop around it whose code is held
			      */
	double accesses;     /* the same: of memory, by its instructions */
	uint32_t n_lines, n_pages; /* of code */
	uint64_t last_code;	   /* address: up to which it is counted */
	bool has_calls;		   /* whatever is called does more */
	bool is_loop;		   /* otherwise nothing is known of what is between */
};

/* Needs to know how often; without that it is none. */
void stall_loop_find(struct stall_loop *ret, const struct function_code *c,
		     uint32_t block);
void stall_loop_fini(struct stall_loop *l);

/* How often, of the times an instruction accesses memory, it is at another line or page
 * than ever before in this loop: at most 1. */
struct stall_reach {
	double lines, pages;
	double far_lines, far_pages; /* of these, not in the second level, either */
	bool is_fixed;		     /* the same place each time round */
	/* The lines are in the second level as far as was seen, the pages are not. */
	bool is_of_many_pages;
	bool is_at_hand; /* as far as was seen */
};

struct stall_reach stall_loop_reach(const struct stall_loop *l, uint32_t step);
/* How often code is at another line, or page, than those that are held; at most 1. */
struct stall_reach stall_loop_code_reach(const struct stall_loop *l);

#endif
