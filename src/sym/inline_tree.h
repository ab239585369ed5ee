/* SPDX-License-Identifier: Apache-2.0
 *
 * inline_tree - which function, inlined into which, contains an address.
 *
 * One walk over the entries of a unit answers all addresses that were asked of it;
 * only subprograms and inlined subroutines that contain some are looked at.
 */
#ifndef DWELL_SYM_INLINE_TREE_H
#define DWELL_SYM_INLINE_TREE_H

#include "sym/debug_file.h"

#define INLINE_TREE_NONE UINT32_MAX

struct inline_node {
	uint32_t parent; /* the function this is inlined into, or NONE */
	bool is_inlined;
	uint64_t entry; /* offset in the unit's .debug_info */
	uint64_t call_file;
	uint32_t call_line, call_column;
};

struct inline_tree {
	VEC(struct inline_node) nodes;
};

/* Addresses ascend; ret[i]: the innermost node of each, or NONE.  The unit's
 * abbreviations must have been made. */
void inline_tree_walk(const struct debug_unit *u, const uint64_t *addresses, size_t n,
		      struct inline_tree *tree, uint32_t *ret);
void inline_tree_fini(struct inline_tree *tree);

#endif
