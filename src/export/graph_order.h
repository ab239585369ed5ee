/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_order - the order of cells within layers, so that few links cross.
 *
 * Sweeps down and up by barycentres; how many is bounded by the graph's size, so that
 * the time is.  The same graph always gets the same order.
 */
#ifndef DWELL_EXPORT_GRAPH_ORDER_H
#define DWELL_EXPORT_GRAPH_ORDER_H

#include <stdint.h>

#include "export/graph_layers.h"

/* Returns how many sweeps there were. */
unsigned graph_order_improve(struct graph_layers *l);
uint64_t graph_order_crossings(const struct graph_layers *l);

#endif
