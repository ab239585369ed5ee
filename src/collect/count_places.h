/* SPDX-License-Identifier: Apache-2.0
 *
 * count_places - the places of a file of counts by small numbers, for tables: a place is
 * an address of a nest, where blocks begin or ways lead.  Number 0 is outside of all
 * code.
 */
#ifndef DWELL_COLLECT_COUNT_PLACES_H
#define DWELL_COLLECT_COUNT_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct count_flow_input;

/* Where a block begins, and where its ways lead: 0 where there is none. */
struct count_places_block {
	uint32_t start, on, to;
};

struct count_places {
	struct count_places_block *blocks;
	uint32_t *pairs;  /* to which place each leads */
	uint32_t *extras; /* where each is, if it is of no block */
	uint32_t n;	  /* number 0 included; 0: nobody has told them */
};

/* With room for those of the input; places are told by the caller. */
void count_places_make(struct count_places *p, size_t n_blocks, size_t n_pairs,
		       size_t n_extras);
void count_places_fini(struct count_places *p);

/* By their addresses.  Of blocks that are out of range: 0. */
void count_places_find(struct count_places *ret, const struct count_flow_input *in);

#endif
