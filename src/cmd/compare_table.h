/* SPDX-License-Identifier: Apache-2.0
 *
 * compare_table - rows of several recordings with what changed since the first.
 *
 * Every event that all of them have is a group of columns (compare_cells.h).
 */
#ifndef DWELL_CMD_COMPARE_TABLE_H
#define DWELL_CMD_COMPARE_TABLE_H

#include "cmd/compare_cells.h"
#include "cmd/row_view.h"

/* The cells of the event that --sort names, else of the first. */
struct compare_cells compare_table_cells(const struct row_view *v);
/* How many of the events have room. */
size_t compare_table_n_events(const struct row_view *v);
/* n_others: rows that have nothing of these. */
void compare_table_print(const struct row_view *v, size_t n_others, FILE *out);

#endif
