/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_layers - a graph as layers of cells, with links between neighbouring layers
 * only.
 *
 * Cells 0 to n_nodes - 1 are the nodes, the others are bends: a way that passes a layer
 * has one there.  A way that goes back leaves its node downwards all the same, turns in
 * the layer below, and comes to its target from the layer above that: the first and
 * the last of its bends are the turns.  Where many long ways leave or reach one node they
 * share their bends.  Internal to the layout, not for other threads.
 */
#ifndef DWELL_EXPORT_GRAPH_LAYERS_H
#define DWELL_EXPORT_GRAPH_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "export/graph.h"
#include "export/graph_size.h"

struct graph_cell {
	uint32_t layer;
	uint32_t position; /* in its layer */
	double w;
	double x; /* its middle */
};

struct graph_link {
	uint32_t upper, lower; /* cells */
};

/* How a way runs: its bends in its own direction, cells `first` to first + n - 1. */
struct graph_run {
	uint32_t first, n;
	bool is_back;
	bool is_cut; /* too long for this picture: it has no bends and only its ends */
};

struct graph_layers {
	size_t n_nodes, n_layers;
	VEC(struct graph_cell) cells;
	VEC(struct graph_link) links;
	struct graph_run *runs; /* of each way */
	uint32_t *order;	/* cells, layer after layer */
	uint32_t *start;	/* of each layer in it, and of the end */
	/* Links by cell: down[first_down[c]] to down[first_down[c + 1]], likewise up. */
	uint32_t *down, *first_down, *up, *first_up;
	size_t n_cut;
};

void graph_layers_init(struct graph_layers *l, const struct graph *g,
		       const struct graph_box *boxes);
void graph_layers_fini(struct graph_layers *l);

static inline size_t graph_layers_width(const struct graph_layers *l, size_t layer)
{
	return l->start[layer + 1] - l->start[layer];
}

#endif
