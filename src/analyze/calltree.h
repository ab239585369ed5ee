/* SPDX-License-Identifier: Apache-2.0
 *
 * calltree - calling contexts merged by function, down from the roots or up from the
 * leaves.
 *
 * Only nodes that weigh enough are opened, so the work follows what is shown, not the
 * number of stacks.  Direct recursion is folded into one node that tells how deep it
 * went.  Node 0 is the root and stands for everything.
 */
#ifndef DWELL_ANALYZE_CALLTREE_H
#define DWELL_ANALYZE_CALLTREE_H

#include "analyze/profile.h"

#define CALLTREE_MAX_NODES 200000

struct calltree_options {
	bool bottom_up;
	uint32_t function; /* only stacks through it, from there on; MODEL_NONE: all */
	size_t column;	   /* decides the order of children */
	double min_share; /* children below this share of every column are only counted */
	/* The columns that are meant by that; n 0: all.  A child that has nothing of them
	 * is none. */
	const size_t *shown;
	size_t n_shown;
	unsigned max_depth;  /* 0: no limit */
	bool keep_recursion; /* a level of direct recursion is a node of its own */
};

struct calltree_node {
	uint32_t function;			  /* MODEL_NONE: the root */
	uint32_t parent, first_child, n_children; /* children are neighbours, heaviest
						   * first */
	unsigned depth;
	unsigned n_folded; /* further levels of direct recursion in this node */
	unsigned n_hidden; /* children that were too light or too deep */
	bool is_inlined;   /* into its parent (or, bottom-up, its child is in it) */
};

struct calltree {
	struct calltree_node *nodes;
	size_t n_nodes, n_columns;
	/* [node * n_columns + column]; going up, exclusive is what has no caller;
	 * hidden is the sum of the children that are only counted. */
	uint64_t *inclusive, *exclusive, *hidden;
	bool is_cut; /* CALLTREE_MAX_NODES was reached */
};

void calltree_build(struct calltree *ret, const struct profile *p,
		    const struct calltree_options *o);
void calltree_fini(struct calltree *t);

#endif
