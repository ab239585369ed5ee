/* SPDX-License-Identifier: Apache-2.0
 *
 * row_next - what to type next, below a report's rows.
 */
#ifndef DWELL_CMD_ROW_NEXT_H
#define DWELL_CMD_ROW_NEXT_H

#include <stdio.h>

#include "cmd/row_view.h"

/* row: the one to look into, unless most time is waited for elsewhere.  Nothing where
 * rows are no code.  Compared: by diff. */
void row_next_print(const struct row_view *v, size_t row, bool is_compared, FILE *out);

#endif
