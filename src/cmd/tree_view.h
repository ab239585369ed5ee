/* SPDX-License-Identifier: Apache-2.0
 *
 * tree_view - a tree of calling contexts as text, with values or what changed of them.
 */
#ifndef DWELL_CMD_TREE_VIEW_H
#define DWELL_CMD_TREE_VIEW_H

#include <stdio.h>

#include "analyze/calltree.h"
#include "base/buf.h"
#include "cmd/compare_cells.h"
#include "cmd/report_profile.h"
#include "cmd/report_table.h"

struct tree_view {
	const struct report *r;
	struct calltree tree;
	bool bottom_up;
	const struct compare_cells *cells; /* NULL: values are shown */
	size_t n_events;		   /* that have room; all are in JSON */
	struct report_table *table;
	struct buf guides; /* what is drawn left of a node's children */
};

/* Of what there is room for, if it is a text: what has nothing of that is no node.  The
 * caller frees v->tree. */
void tree_view_build(struct tree_view *v, const struct calltree_options *how);

/* others: what else the function's name matched, or "". */
void tree_view_print(struct tree_view *v, const char *others, FILE *out);
void tree_view_json(const struct tree_view *v, FILE *out);

#endif
