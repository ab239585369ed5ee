/* SPDX-License-Identifier: Apache-2.0
 *
 * row_code - of a report's rows by instruction: what the instructions are, and what those
 * in front of them waited for.
 *
 * Only of rows that are asked for, and so long as there is time: a function's code is
 * read when its first row is.
 */
#ifndef DWELL_CMD_ROW_CODE_H
#define DWELL_CMD_ROW_CODE_H

#include <stdio.h>

#include "analyze/grouping.h"
#include "analyze/stall_search.h"
#include "base/json.h"
#include "cmd/report_profile.h"

struct row_code;

/* Borrows the report and the grouping.  Options: --model, --clock, --seconds. */
must_use int row_code_new(const struct report *r, const struct grouping *g,
			  const struct options *o, struct row_code **ret, struct err *e);
void row_code_free(struct row_code *c);
void row_code_freep(struct row_code **c);

/* 1: its samples waited for something; 0: nothing is known of that, or there was no time
 * to find out; negative: no such model. */
must_use int row_code_stall(struct row_code *c, size_t row,
			    struct stall_search_found *ret, struct err *e);
/* Looks at the rows, those that matter most first, and those it has not looked at: what
 * follows is of these. */
must_use int row_code_look(struct row_code *c, const struct ranking_row *rows, size_t n,
			   struct err *e);

/* Some row's code is at hand; its stalls may be, too. */
bool row_code_has_text(const struct row_code *c);
bool row_code_has_stalls(const struct row_code *c);
/* Some row has a source line, and there is room for it. */
bool row_code_has_lines(const struct row_code *c);
/* "testb $1, 4(%rdi)"; "" where the code is not at hand. */
const char *row_code_text(const struct row_code *c, size_t row);
/* Of all CPU time, what was waited beyond the best case; 0: nothing, or not known. */
double row_code_share(const struct row_code *c, size_t row);
/* What was waited for and why, as a sentence; false: nothing. */
bool row_code_note(const struct row_code *c, size_t row, struct buf *ret);
/* The same, as keys of the object that is open. */
void row_code_json(const struct row_code *c, size_t row, struct json *j);
/* For so many there was no time: of those that are shown, and of all that would have had
 * to be looked at to know which these are. */
size_t row_code_n_late(const struct row_code *c, const struct ranking_row *rows,
		       size_t n);
/* What these are, below the table; the report knows how many are late. */
void row_code_print_legend(const struct row_code *c, FILE *out);

#endif
