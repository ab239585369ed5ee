/* SPDX-License-Identifier: Apache-2.0
 *
 * cfg_graph - a function's blocks as a graph to be drawn.
 */
#ifndef DWELL_CMD_CFG_GRAPH_H
#define DWELL_CMD_CFG_GRAPH_H

#include "cmd/calc_view.h"
#include "export/graph.h"

/* n_blocks: with most time, at most, unless all are asked for; n_lines: instructions of a
 * block at most; 0: all. */
struct graph *cfg_graph_make(const struct calc_view *v, unsigned n_blocks,
			     unsigned n_lines);

#endif
