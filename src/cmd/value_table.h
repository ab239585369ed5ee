/* SPDX-License-Identifier: Apache-2.0
 *
 * value_table - rows with the values of every event, those of several recordings side by
 * side.
 */
#ifndef DWELL_CMD_VALUE_TABLE_H
#define DWELL_CMD_VALUE_TABLE_H

#include <stdio.h>

#include "cmd/row_view.h"

/* How many of its events have room. */
size_t value_table_n_events(const struct row_view *v);
/* n_others: rows that have nothing of these. */
void value_table_print(const struct row_view *v, size_t n_others, FILE *out);

#endif
