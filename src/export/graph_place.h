/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_place - how far right each cell of a layered graph goes.
 *
 * After Brandes and Köpf, "Fast and Simple Horizontal Coordinate Assignment": long ways
 * run straight, nodes stand in the middle of their neighbours, and no two cells of a
 * layer overlap.  Linear time.
 */
#ifndef DWELL_EXPORT_GRAPH_PLACE_H
#define DWELL_EXPORT_GRAPH_PLACE_H

#include "export/graph_layers.h"

/* Sets every cell's x; the leftmost border is at 0. */
void graph_place_cells(struct graph_layers *l);

#endif
