/* SPDX-License-Identifier: Apache-2.0
 *
 * value_table - rows with the values of every event, those of several recordings side by
 * side.
 */
#ifndef DWELL_CMD_VALUE_TABLE_H
#define DWELL_CMD_VALUE_TABLE_H

#include <stdio.h>

#include "cmd/row_view.h"

void value_table_print(const struct row_view *v, FILE *out);

#endif
