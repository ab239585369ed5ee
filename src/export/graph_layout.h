/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_layout - where a graph's nodes, ways and labels are drawn.
 *
 * Top down in layers: cycles are broken depth first from the entries, ways that go
 * back run upwards beside what they pass.  Deterministic; work is bounded: large
 * graphs get fewer sweeps against crossings, and the longest ways are cut into two
 * stubs that name each other.  Lengths are in CSS pixels, y grows downwards.
 * Immutable once made; borrows the graph, which must outlive it.
 */
#ifndef DWELL_EXPORT_GRAPH_LAYOUT_H
#define DWELL_EXPORT_GRAPH_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "export/graph.h"
#include "export/graph_size.h"

struct graph_point {
	double x, y;
};

/* A line through Bézier curves: a point, then three for each curve. */
struct graph_path {
	uint32_t way;
	size_t first_point, n_points;
	bool is_back;	/* leads upwards */
	bool has_arrow; /* ends at its target, from above */
};

struct graph_label {
	uint32_t way;
	double x, y; /* the baseline's left end */
	const char *text;
};

struct graph_layout {
	const struct graph *g;
	double width, height;
	struct graph_box *boxes; /* of each node */
	VEC(struct graph_path) paths;
	VEC(struct graph_point) points;
	VEC(struct graph_label) labels;
	size_t n_cut;	     /* ways that are drawn as two stubs */
	size_t n_unlabelled; /* ways whose labels had no room */
	uint64_t n_crossings;
	unsigned n_sweeps;
	struct arena texts;
};

struct graph_layout *graph_layout_new(const struct graph *g);
void graph_layout_free(struct graph_layout *l);
void graph_layout_freep(struct graph_layout **l);

#endif
