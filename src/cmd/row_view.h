/* SPDX-License-Identifier: Apache-2.0
 *
 * row_view - the rows of a report by one dimension, and what they are called.
 *
 * Shared by the tables that show them: one recording's values (row_report.c) and what
 * changed between several (compare_table.h).
 */
#ifndef DWELL_CMD_ROW_VIEW_H
#define DWELL_CMD_ROW_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/comparison.h"
#include "analyze/grouping.h"
#include "base/arena.h"
#include "cmd/report_profile.h"
#include "cmd/report_table.h"

struct row_view {
	const struct report *r;
	const struct dimension *d;
	struct grouping *g;
	const struct metrics *m;
	struct ranking_row *rows;
	size_t n_shown, n_nonzero;
	struct arena names;	      /* of the rows, where they are ordered by them */
	struct comparison comparison; /* n_events 0: nothing is compared */
};

void row_view_fini(struct row_view *v);

/* Of a column of the profile, over all rows. */
uint64_t row_view_total(const struct row_view *v, size_t column);
/* Whether rows have the function beside their own name. */
bool row_view_has_function(const struct row_view *v);
/* The columns of names, right of the numbers. */
void row_view_add_names(const struct row_view *v, struct report_table *t);
void row_view_put_names(const struct row_view *v, struct report_table *t, size_t row);

#endif
