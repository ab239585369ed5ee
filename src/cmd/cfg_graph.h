/* SPDX-License-Identifier: Apache-2.0
 *
 * cfg_graph - a function's blocks as a graph to be drawn.
 */
#ifndef DWELL_CMD_CFG_GRAPH_H
#define DWELL_CMD_CFG_GRAPH_H

#include "cmd/calc_view.h"
#include "export/graph.h"

/* n_lines: instructions of a block at most; 0: all. */
must_use int cfg_graph_make(const struct calc_view *v, unsigned n_lines,
			    struct graph **ret, struct err *e);

#endif
