/* SPDX-License-Identifier: Apache-2.0
 *
 * flame_tree - a profile's calling contexts as one tree without the small ones.
 *
 * A parent's number is smaller than its child's; node 0 is the root of everything.  A
 * frame here is a function and whether it is inlined: lines are merged.  What is lighter
 * than the share asked for in every event is never built: its weight is in one child of
 * function FLAME_TREE_SMALL where it belongs.  Borrows the profile.
 */
#ifndef DWELL_EXPORT_FLAME_TREE_H
#define DWELL_EXPORT_FLAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"

#define FLAME_TREE_SMALL   UINT32_MAX	    /* function of what was merged */
#define FLAME_TREE_NOWHERE (UINT32_MAX - 1) /* function of a sample without a stack */

struct flame_frame {
	uint32_t function;
	bool is_inlined;
};

struct flame_node {
	uint32_t parent, frame;
};

struct flame_tree {
	size_t first_column, n_columns;
	double share; /* what was asked for; 0 when nothing had to be merged */
	VEC(struct flame_node) nodes;
	VEC(struct flame_frame) frames; /* frame 0: the root */
	VEC(uint64_t) self;		/* [node * n_columns + i], exclusive weights */
	struct map frame_of;
};

/* Shares from coarse to fine, for trees as large as there is room for. */
extern const double flame_tree_shares[];
extern const size_t flame_tree_n_shares;

/* Columns [first, first + n) of the profile. */
struct flame_tree *flame_tree_new(const struct profile *p, size_t first, size_t n,
				  double share);
/* The finest tree of at most max_nodes, else the coarsest. */
struct flame_tree *flame_tree_fit(const struct profile *p, size_t first, size_t n,
				  size_t max_nodes);
void flame_tree_free(struct flame_tree *t);
void flame_tree_freep(struct flame_tree **t);

/* Nodes of the tree parents first, each followed by all that is below it: fills
 * order and depth (of 0 for the root), both of nodes.n entries. */
void flame_tree_walk(const struct flame_tree *t, uint32_t *order, uint32_t *depth);

#endif
