/* SPDX-License-Identifier: Apache-2.0
 *
 * stats_table - how much rows differ over many recordings, as text.
 */
#ifndef DWELL_CMD_STATS_TABLE_H
#define DWELL_CMD_STATS_TABLE_H

#include <stdio.h>

#include "analyze/spread.h"
#include "cmd/row_view.h"

struct stats_view {
	struct row_view rows;
	struct spread_sets *sets; /* [event of the comparison] */
	size_t event;		  /* that the text is about */
	bool is_inclusive, is_share;
	size_t n_small; /* rows with less than --min */
};

struct spread stats_table_spread(const struct stats_view *v, size_t event, size_t row);
/* The recordings with their totals, and what is computed of them. */
void stats_table_print_head(const struct stats_view *v, FILE *out);
void stats_table_print(const struct stats_view *v, FILE *out);
/* To compare: the recordings with the least and the most of the first row. */
void stats_table_print_next(const struct stats_view *v, FILE *out);

#endif
