/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_paint - a laid-out graph with its titles, legend and feet, as strokes on a
 * canvas.
 *
 * What every format of pictures has in common; a format brings the strokes.  Lengths
 * are in CSS pixels, y grows downwards.
 */
#ifndef DWELL_EXPORT_GRAPH_PAINT_H
#define DWELL_EXPORT_GRAPH_PAINT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "export/graph_layout.h"

#define GRAPH_PAINT_N_HEATS 10

enum graph_paint_style {
	GRAPH_PAINT_PLAIN,
	GRAPH_PAINT_BOLD,
	GRAPH_PAINT_ITALIC,
	GRAPH_PAINT_FAINT,
	GRAPH_PAINT_LABEL, /* of a way; legible upon what is drawn below it */
	GRAPH_PAINT_N_STYLES,
};

struct graph_paint_text {
	double x, y; /* the baseline */
	double letters;
	enum graph_paint_style style;
	bool is_right; /* ends at x */
	const char *text;
};

struct graph_canvas;

struct graph_strokes {
	/* What is drawn until end() belongs together; tip says more of it. */
	void (*begin)(struct graph_canvas *c, const char *tip);
	void (*end)(struct graph_canvas *c);
	void (*box)(struct graph_canvas *c, const struct graph_box *b, double radius,
		    unsigned heat);
	void (*path)(struct graph_canvas *c, const struct graph_point *p, size_t n,
		     enum graph_way_kind kind, double width);
	/* A head that points down to where it is. */
	void (*arrow)(struct graph_canvas *c, struct graph_point at,
		      enum graph_way_kind kind, double width);
	void (*text)(struct graph_canvas *c, const struct graph_paint_text *t);
};

struct graph_canvas {
	const struct graph_strokes *strokes;
	FILE *out;
	double width, height; /* of the whole picture: graph_paint_measure() */
};

void graph_paint_measure(const struct graph_layout *l, struct graph_canvas *ret);
void graph_paint_all(const struct graph_layout *l, struct graph_canvas *c);

/* Colours on white, "rrggbb". */
extern const char *const graph_paint_heats[GRAPH_PAINT_N_HEATS];
extern const char *const graph_paint_ways[GRAPH_N_WAY_KINDS];
/* Lengths of dash and gap; 0, 0: none. */
extern const double graph_paint_dashes[GRAPH_N_WAY_KINDS][2];

/* Four points of a curve that goes straight up or down. */
bool graph_paint_is_vertical(const struct graph_point *p);
unsigned graph_paint_heat(double weight);
double graph_paint_way_width(const struct graph_way *w);
void graph_paint_node_tip(const struct graph_node *n, struct buf *ret);
void graph_paint_way_tip(const struct graph *g, const struct graph_way *w,
			 struct buf *ret);

#endif
