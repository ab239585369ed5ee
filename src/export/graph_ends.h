/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_ends - where ways begin and end at their nodes' borders, and what is written
 * there.
 *
 * A label stands at the end where fewer ways meet, within the node's width, so that it
 * can neither lie upon another nor upon a way that passes.  Where too many meet at both
 * ends there is none.  Internal to the layout, not for other threads.
 */
#ifndef DWELL_EXPORT_GRAPH_ENDS_H
#define DWELL_EXPORT_GRAPH_ENDS_H

#include "export/graph.h"
#include "export/graph_layers.h"
#include "export/graph_size.h"

enum graph_ends_side {
	GRAPH_ENDS_FROM, /* at the lower border of the node that the way leaves */
	GRAPH_ENDS_TO,	 /* at the upper border of the other */
	GRAPH_ENDS_N_SIDES,
};

struct graph_end {
	double x;
	const char *label; /* or NULL */
	double label_w;	   /* 0: none */
};

struct graph_ends {
	const struct graph *g;
	struct graph_end *at[GRAPH_ENDS_N_SIDES]; /* of each way */
	uint32_t *n_ways[GRAPH_ENDS_N_SIDES];	  /* of each node */
	size_t n_unlabelled;
	struct arena texts;
};

void graph_ends_init(struct graph_ends *e, const struct graph *g);
void graph_ends_fini(struct graph_ends *e);
/* Ways that were cut say at each end where the other is. */
void graph_ends_name_cut(struct graph_ends *e, const struct graph_run *runs);
/* The width that each node needs. */
void graph_ends_min_widths(const struct graph_ends *e, double *ret);
/* Sets every x, given where nodes and bends are. */
void graph_ends_spread(struct graph_ends *e, const struct graph_layers *l,
		       const struct graph_box *boxes);

#endif
