/* SPDX-License-Identifier: Apache-2.0
 *
 * region_forest - the trees of regions of a program image's threads, as it tells of them,
 * and what has been added since samples were made of them.
 *
 * Numbers in records are the target's: whatever they say, a tree has a root, and no more
 * nodes than records had rows.
 */
#ifndef DWELL_COLLECT_REGION_FOREST_H
#define DWELL_COLLECT_REGION_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "wire/tracer_regions.h"

struct region_forest_node {
	uint32_t parent; /* index in the tree; 0: the thread itself */
	uint32_t region;
	uint32_t stack; /* the user's, 0 not known yet */
	bool is_known, has_changed;
	uint64_t calls, quantity;	      /* in its unit, not in ticks */
	uint64_t given_calls, given_quantity; /* of these, what is in samples */
};

struct region_forest_tree {
	uint32_t number; /* the target's */
	uint32_t tid;
	uint32_t top; /* the innermost active node, 0 none */
	bool is_over;
	uint64_t time_ns;  /* of the last record */
	uint64_t given_ns; /* samples were made */
	uint32_t n_unmatched, n_cut, n_refused;
	struct map index; /* the target's number of a node → index */
	VEC(struct region_forest_node) nodes; /* [0]: the thread itself */
	VEC(uint32_t) changed;
};

struct region_forest {
	struct map index; /* the target's number of a tree → place in trees */
	VEC(struct region_forest_tree *) trees;
};

void region_forest_fini(struct region_forest *f);
/* A record of nodes that was parsed. */
struct region_forest_tree *region_forest_take(struct region_forest *f,
					      const struct wire_regions_nodes *head,
					      const uint8_t *rows);
/* The tree of slices; NULL: none was told of before. */
struct region_forest_tree *region_forest_find(const struct region_forest *f,
					      uint32_t tree);
/* Nothing more will be told of it. */
void region_forest_drop(struct region_forest *f, struct region_forest_tree *t);
/* NULL: it was not told of. */
struct region_forest_node *region_forest_node(const struct region_forest_tree *t,
					      uint32_t number);
/* Time has passed in what is active still, where it is time that is told. */
void region_forest_pass(struct region_forest_tree *t, uint64_t now_ns);
/* The next node that has changed, and by how much since it was taken so; NULL: none. */
struct region_forest_node *region_forest_change(struct region_forest_tree *t,
						uint64_t *ret_calls,
						uint64_t *ret_quantity);

#endif
