/* SPDX-License-Identifier: Apache-2.0
 *
 * compare_table - rows of several recordings with what changed since the first.
 *
 * Every event that all of them have is a group of columns: a value of each recording,
 * and beside those of the others their difference to the first's and their ratio.
 */
#ifndef DWELL_CMD_COMPARE_TABLE_H
#define DWELL_CMD_COMPARE_TABLE_H

#include "base/json.h"
#include "cmd/row_view.h"

/* By what a row is ordered: the largest of its changes, 0 when chance may have made it.
 */
uint64_t compare_table_weight(const struct row_view *v, size_t row, bool is_inclusive,
			      bool is_ratio);
void compare_table_print(const struct row_view *v, FILE *out);
/* "exclusive_change", "exclusive_ratio" and so on of one row. */
void compare_table_json(const struct row_view *v, struct json *j, size_t row);

#endif
