/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_size - how large a graph's nodes are drawn.
 *
 * Letters grow with the logarithm of the frequency.  A node's area is in proportion
 * to its weight, unless its text needs more.  Lengths are in CSS pixels.
 */
#ifndef DWELL_EXPORT_GRAPH_SIZE_H
#define DWELL_EXPORT_GRAPH_SIZE_H

#include "export/graph.h"

#define GRAPH_SIZE_SMALLEST 9.0 /* letters */
#define GRAPH_SIZE_LARGEST  16.0
#define GRAPH_SIZE_LABEL    10.0
#define GRAPH_SIZE_COLUMN   0.6 /* of the letters' size: a column of every monospace */
#define GRAPH_SIZE_LINE	    1.3 /* of it: from line to line */
#define GRAPH_SIZE_PADDING  8.0

struct graph_box {
	double x, y, w, h;     /* x, y: upper left corner */
	double letters;	       /* their size */
	double text_w, text_h; /* what they take; in the middle of the box */
	double number_w; /* of it: the column of numbers with its gap, at the left */
};

/* Sets all but x and y.  min_w[i] is what node i needs for the ways at its border. */
void graph_size_boxes(const struct graph *g, const double *min_w, struct graph_box *ret);
/* What a label takes. */
double graph_size_label(const char *label);

#endif
