/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/compare_rows.h"

#include <stdio.h>

#include "cmd/compare_table.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/row_next.h"

/* Of an ideal time and of the one sampled, of 1e12: what is nothing in either. */
#define LEAST_SHARE 1000000000

enum order { CHANGE, INCLUSIVE_CHANGE, RATIO, EXCLUSIVE, INCLUSIVE, NAME };

static const char *const orders[] = { [CHANGE] = "change",
				      [INCLUSIVE_CHANGE] = "inclusive-change",
				      [RATIO] = "ratio",
				      [EXCLUSIVE] = "exclusive",
				      [INCLUSIVE] = "inclusive",
				      [NAME] = "name",
				      NULL };
const struct report_rows compare_rows_shown = { .orders = orders,
						.limit = 30,
						.is_compared = true };

static bool orders_changes(const struct row_view *v)
{
	return v->r->order <= RATIO;
}

/* What has not changed is ordered by what it has itself. */
static void weigh_row(struct row_view *v, struct ranking_row *to)
{
	struct compare_cells cells = compare_table_cells(v);
	size_t row = to->id;
	unsigned order = v->r->order;

	if (orders_changes(v)) {
		bool is_inclusive = order == INCLUSIVE_CHANGE || v->r->json;

		to->value = compare_cells_weight(
			&cells, row_view_values(v, row, order == INCLUSIVE_CHANGE),
			order == RATIO);
		to->tie = row_view_largest_share(v, row, false);
		to->tie += is_inclusive && row_view_largest_share(v, row, true);
		if (v->comparison.is_ideal && !v->r->json && !to->value &&
		    to->tie < LEAST_SHARE)
			to->tie = 0;
	} else {
		to->value =
			row_view_values(v, row, order == INCLUSIVE)[v->r->sort_column];
		to->tie = row_view_largest_share(v, row, true);
	}
}

static int order_rows(struct row_view *v, struct err *e unused)
{
	struct ranking_options o = v->r->ranking;

	v->n_nonzero = 0;
	for (size_t i = 0; i < v->m->n_rows; i++) {
		weigh_row(v, &v->rows[i]);
		v->n_nonzero += v->rows[i].value || v->rows[i].tie;
		o.total += orders_changes(v) ? v->rows[i].value : 0;
	}
	if (!orders_changes(v))
		o.total = row_view_total(v, v->r->sort_column);
	o.by_name = v->r->order == NAME;
	if (o.by_name)
		row_view_name_rows(v, v->m->n_rows);
	v->n_shown = ranking_order(v->rows, v->m->n_rows, &o);
	return 0;
}

static void print_text(const struct row_view *v, size_t n_others, FILE *out)
{
	report_head_print(v->r, out);
	if (v->n_shown)
		compare_table_print(v, n_others, out);
	else
		report_text_nothing(v->r, out);
	report_quality_print(v->r, out);
	if (v->n_shown)
		row_next_print(v, v->rows[0].id, true, out);
}

static void put_json_row(struct json *j, const struct row_view *v, size_t row)
{
	struct compare_cells cells = compare_table_cells(v);
	size_t at = row * v->m->n_columns;

	json_object(j);
	row_view_json_names(v, j, row);
	report_json_values(j, v->r, "exclusive", v->m->exclusive + at);
	report_json_values(j, v->r, "inclusive", v->m->inclusive + at);
	report_json_values(j, v->r, "samples", v->m->exclusive_counts + at);
	compare_cells_json(&cells, j, "exclusive", v->m->exclusive + at);
	compare_cells_json(&cells, j, "inclusive", v->m->inclusive + at);
	json_object_end(j);
}

static void print_json(const struct row_view *v, const char *name, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, name, out);
	for (size_t i = 0; i < v->n_shown; i++)
		put_json_row(&j, v, v->rows[i].id);
	report_json_end(&j, v->r);
}

int compare_rows_show(struct row_view *v, const char *name, struct err *e)
{
	size_t n_others = 0;
	int rc = row_view_open(v, true, e);

	if (rc < 0)
		return rc;
	if (!v->r->json)
		v->n_events = v->comparison.n_events;
	rc = order_rows(v, e);
	if (rc == 0 && !v->r->json)
		rc = row_view_fit(v, compare_table_n_events, order_rows, &n_others, e);
	if (rc < 0)
		return rc;
	if (v->r->json)
		print_json(v, name, stdout);
	else
		print_text(v, n_others, stdout);
	return 0;
}
