/* SPDX-License-Identifier: Apache-2.0
 *
 * report_table - numbers beside names, fitted to the width.
 *
 * The numbers are never cut; the names share what is left of the width and are
 * shortened where that says most (analyze/names.h).
 */
#ifndef DWELL_CMD_REPORT_TABLE_H
#define DWELL_CMD_REPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/own.h"

struct report_table;

struct report_table *report_table_new(unsigned width, bool colour);
void report_table_free(struct report_table *t);
void report_table_freep(struct report_table **t);
/* Columns, from the left.  The names of larger share give way last; a text is cut at its
 * end. */
void report_table_number(struct report_table *t, const char *title);
void report_table_name(struct report_table *t, const char *title, unsigned share);
void report_table_text(struct report_table *t, const char *title, unsigned share);
void report_table_row(struct report_table *t, bool is_strong);
void report_table_cell(struct report_table *t, const char *text);
/* A name with what is never shortened before and after it. */
void report_table_decorated(struct report_table *t, const char *before, const char *name,
			    const char *after);
/* A sentence below the row, from the last number on. */
void report_table_note(struct report_table *t, const char *text);
/* Columns that the numbers take, the gaps after them included. */
size_t report_table_numbers_width(const struct report_table *t);
void report_table_print(const struct report_table *t, FILE *out);

#endif
