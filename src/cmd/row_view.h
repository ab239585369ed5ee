/* SPDX-License-Identifier: Apache-2.0
 *
 * row_view - the rows of a report by one dimension, and what they are called.
 *
 * Shared by the commands that show them: values (row_report.c), what changed between two
 * recordings (diff.c) and how much many differ (stats.c).
 */
#ifndef DWELL_CMD_ROW_VIEW_H
#define DWELL_CMD_ROW_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/comparison.h"
#include "analyze/grouping.h"
#include "base/arena.h"
#include "base/json.h"
#include "cmd/report_profile.h"
#include "cmd/report_table.h"

struct row_code;

struct row_view {
	const struct report *r;
	const struct dimension *d;
	struct grouping *g;
	const struct metrics *m;
	struct ranking_row *rows;
	size_t n_shown, n_nonzero;
	/* Of the report's, or of those that are compared: what has nothing of these is no
	 * row. */
	size_t n_events;
	struct arena names;	      /* of the rows, where they are ordered by them */
	bool has_sums;		      /* of rows and those above them are shown */
	struct row_code *code;	      /* where they are instructions, borrowed; or NULL */
	bool no_inclusive;	      /* it is not shown in a text */
	struct comparison comparison; /* n_events 0: nothing is compared */
};

/* Fills v->g, v->m and the rows' ids, of the report and dimension already in v.  Shared:
 * threads, processes and the like of several recordings are one row when called so. */
must_use int row_view_open(struct row_view *v, bool is_shared, struct err *e);
void row_view_fini(struct row_view *v);

/* By column of the profile. */
const uint64_t *row_view_values(const struct row_view *v, size_t row, bool is_inclusive);
/* A row's share of a column, of 1e12; the largest of the columns shown, in a text of
 * those that are compared. */
uint64_t row_view_share(const struct row_view *v, size_t row, size_t column,
			bool is_inclusive);
uint64_t row_view_largest_share(const struct row_view *v, size_t row, bool is_inclusive);
/* Leaves out events for which there is no room, and rows that have only these: they would
 * be rows of dashes.  Which rows there are makes columns wider or narrower in turn: never
 * more columns. */
typedef size_t row_view_fit_fn(const struct row_view *v);
typedef int row_view_order_fn(struct row_view *v, struct err *e);
must_use int row_view_fit(struct row_view *v, row_view_fit_fn *n_events,
			  row_view_order_fn *order, size_t *ret_n_others, struct err *e);
/* Names of the first n of v->rows, to order them by. */
void row_view_name_rows(struct row_view *v, size_t n);
/* Of a column of the profile, over all rows. */
uint64_t row_view_total(const struct row_view *v, size_t column);
/* Whether rows have the function beside their own name. */
bool row_view_has_function(const struct row_view *v);
/* The columns of names, right of the numbers. */
void row_view_add_names(const struct row_view *v, struct report_table *t);
void row_view_put_names(const struct row_view *v, struct report_table *t, size_t row);

/* "name", "image" and what else says which row it is. */
void row_view_json_names(const struct row_view *v, struct json *j, size_t row);

#endif
