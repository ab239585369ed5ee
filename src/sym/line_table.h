/* SPDX-License-Identifier: Apache-2.0
 *
 * line_table - the line number program of a unit (.debug_line, versions 2 to 5).
 *
 * The program is run once for all addresses that are asked; sequences of code that
 * the linker left out are passed over.
 */
#ifndef DWELL_SYM_LINE_TABLE_H
#define DWELL_SYM_LINE_TABLE_H

#include "sym/line_files.h"

struct line_row {
	uint64_t address;
	uint32_t file, line, column;
};

/* Rows of addresses, which ascend; where there is none, line and file are 0. */
void line_table_lookup(const struct line_files *f, const uint64_t *addresses, size_t n,
		       struct line_row *ret);

/* Each row that covers part of [start, end), in no particular order. */
typedef void line_table_fn(void *ctx, const struct line_row *row, uint64_t end);
void line_table_each(const struct line_files *f, uint64_t start, uint64_t end,
		     line_table_fn *fn, void *ctx);

#endif
