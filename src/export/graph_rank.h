/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_rank - which ways of a graph go back, and in which row each node is drawn.
 *
 * Every way that does not go back leads to a later row.  Rows are kept to a width, so
 * that a switch of many targets becomes several rows.
 */
#ifndef DWELL_EXPORT_GRAPH_RANK_H
#define DWELL_EXPORT_GRAPH_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "export/graph.h"
#include "export/graph_size.h"

/* rows[i] of node i, is_back[i] of way i.  Returns how many rows there are, all of
 * them in use. */
uint32_t graph_rank_assign(const struct graph *g, const struct graph_box *boxes,
			   uint32_t *rows, bool *is_back);

#endif
