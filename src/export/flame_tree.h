/* SPDX-License-Identifier: Apache-2.0
 *
 * flame_tree - a profile's stacks merged into one calling-context tree.
 *
 * Nodes are numbered as they appear, so a parent's number is smaller than its
 * child's; node 0 is the root of everything.  A frame here is a function and whether
 * it is inlined: lines are merged.  Borrows the profile.
 */
#ifndef DWELL_EXPORT_FLAME_TREE_H
#define DWELL_EXPORT_FLAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/err.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"

#define FLAME_TREE_PRUNED  UINT32_MAX	    /* function of what pruning merged */
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
	VEC(struct flame_node) nodes;
	VEC(struct flame_frame) frames; /* frame 0: the root */
	VEC(uint64_t) self;		/* [node * n_columns + i], exclusive weights */
	struct map child_of, frame_of;
};

/* Columns [first, first + n) of the profile. */
must_use int flame_tree_new(const struct profile *p, size_t first, size_t n,
			    struct flame_tree **ret, struct err *e);
void flame_tree_free(struct flame_tree *t);
void flame_tree_freep(struct flame_tree **t);

/* Inclusive weights, indexed as self; the caller frees. */
uint64_t *flame_tree_inclusive(const struct flame_tree *t);
/* How many nodes reach share (0..1) of the root in some column. */
size_t flame_tree_count(const struct flame_tree *t, const uint64_t *inclusive,
			double share);
/* A tree of those nodes; the weight of what is below them is kept in one child of
 * function FLAME_TREE_PRUNED at each place. */
struct flame_tree *flame_tree_prune(const struct flame_tree *t, const uint64_t *inclusive,
				    double share);
/* Nodes of the tree parents first, each followed by all that is below it: fills
 * order and depth (of 0 for the root), both of nodes.n entries. */
void flame_tree_walk(const struct flame_tree *t, uint32_t *order, uint32_t *depth);

#endif
