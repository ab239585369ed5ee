/* SPDX-License-Identifier: Apache-2.0
 *
 * cfg_graph - a function's blocks as a graph to be drawn.
 */
#ifndef DWELL_CMD_CFG_GRAPH_H
#define DWELL_CMD_CFG_GRAPH_H

#include "cmd/calc_view.h"
#include "cmd/cfg_choice.h"
#include "export/graph.h"

/* n_lines: instructions of a block at most; 0: all. */
struct graph *cfg_graph_make(const struct calc_view *v, const struct cfg_choice *choice,
			     unsigned n_lines);

#endif
