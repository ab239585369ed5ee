/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/row_report.h"

#include <stdio.h>
#include <string.h>

#include "analyze/listing.h"
#include "analyze/names.h"
#include "analyze/waits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/compare_table.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_profile.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/value_table.h"

#define DEFAULT_LIMIT 30

/* A row's largest share of the columns, of 1e12. */
static uint64_t largest_share(const struct row_view *v, const uint64_t *values)
{
	double largest = 0;

	for (size_t i = 0; i < v->r->n_shown; i++) {
		size_t c = v->r->shown[i];
		double total = (double)row_view_total(v, c);

		if (total > 0 && (double)values[c] / total > largest)
			largest = (double)values[c] / total;
	}
	return (uint64_t)(largest * 1e12);
}

/* What is 0 in the order's own column still comes before what is nothing at all; what
 * has not changed is ordered by what it has itself. */
static uint64_t tie_of(const struct row_view *v, size_t row)
{
	size_t at = row * v->m->n_columns;
	uint64_t inclusive = largest_share(v, v->m->inclusive + at);

	if (!report_profile_orders_changes(v->r))
		return inclusive;
	return largest_share(v, v->m->exclusive + at) + (inclusive > 0);
}

static uint64_t weight_of(const struct row_view *v, size_t row)
{
	size_t at = row * v->m->n_columns + v->r->sort_column;

	if (report_profile_orders_changes(v->r))
		return compare_table_weight(v, row);
	return v->r->order == REPORT_ORDER_INCLUSIVE ? v->m->inclusive[at]
						     : v->m->exclusive[at];
}

static void name_rows(struct row_view *v)
{
	for (size_t i = 0; i < v->m->n_rows; i++) {
		struct dimension_label label;

		grouping_label(v->g, i, &label);
		v->rows[i].name = arena_strdup(&v->names, buf_str(&label.name));
		grouping_label_fini(&label);
	}
}

static void order_rows(struct row_view *v)
{
	struct ranking_options o = v->r->ranking;
	size_t n = v->m->n_rows;

	v->rows = xcalloc(n + 1, sizeof(*v->rows));
	if (!v->m->n_columns)
		return;
	for (size_t i = 0; i < n; i++) {
		v->rows[i] = (struct ranking_row){ .id = i,
						   .value = weight_of(v, i),
						   .tie = tie_of(v, i) };
		v->n_nonzero += v->rows[i].tie != 0;
		o.total += report_profile_orders_changes(v->r) ? v->rows[i].value : 0;
	}
	if (!report_profile_orders_changes(v->r))
		o.total = row_view_total(v, v->r->sort_column);
	o.by_name = v->r->order == REPORT_ORDER_NAME;
	if (o.by_name)
		name_rows(v);
	v->n_shown = ranking_order(v->rows, n, &o);
}

/* Several recordings of one event are there to be compared, by rows that may be in all
 * of them. */
static int compare(struct row_view *v, struct report *r, struct err *e)
{
	if (!v->d->is_per_source)
		comparison_find(&v->comparison, r->profile, r->shown, r->n_shown);
	if (v->comparison.n_events && !r->has_order)
		r->order = REPORT_ORDER_CHANGE;
	if (report_profile_orders_changes(r) && !v->comparison.n_events)
		return err_set(
			e, ERR_USAGE,
			"nothing to compare: name two recordings of one event, and "
			"rows that both have");
	return 0;
}

/* The row to look into: that has most itself, or has changed most. */
static size_t hottest_row(const struct row_view *v)
{
	if (report_profile_orders_changes(v->r))
		return v->rows[0].id;

	size_t n = v->m->n_columns, c = v->r->sort_column, best = v->rows[0].id;

	for (size_t i = 1; i < v->n_shown; i++)
		if (v->m->exclusive[v->rows[i].id * n + c] >
		    v->m->exclusive[best * n + c])
			best = v->rows[i].id;
	return best;
}

/* Where most of what waits does so; MODEL_NONE when that is less than a third of all. */
static uint32_t main_wait(const struct row_view *v)
{
	const struct profile *p = v->r->profile;
	uint64_t total = row_view_total(v, v->r->sort_column);

	for (size_t c = 0; c < profile_n_columns(p); c++) {
		const struct profile_column *column = profile_column(p, c);
		own(freep) struct wait *waits = NULL;

		if (!waits_is_column(column) || column->total_weight * 3 < total ||
		    (c != v->r->sort_column && column->whole != v->r->sort_column))
			continue;
		if (waits_find(p, c, &waits))
			return waits[0].function;
	}
	return MODEL_NONE;
}

static uint32_t function_to_try(const struct row_view *v)
{
	uint32_t f = main_wait(v);
	struct dimension_label label;

	if (f != MODEL_NONE)
		return f;
	grouping_label(v->g, hottest_row(v), &label);
	f = label.function;
	grouping_label_fini(&label);
	return f;
}

/* What to type for a function: its name, or when that takes more than a line the
 * shortened one if it means no other function. */
static char *name_to_type(const struct row_view *v, uint32_t function)
{
	const char *full = profile_function(v->r->profile, function)->label;
	size_t n = names_without_parameters(full), cap = 4 * strlen(full) + 1;
	size_t room = v->r->width - strlen("Next: dwell annotate ''");
	own(freep) char *name = xstrndup(full, n);
	char *safe = xcalloc(1, cap);

	if (text_width(name) > room) {
		names_shorten(safe, cap, name, room);
		if (listing_means(v->r->profile, safe, function))
			return safe;
	}
	text_printable(safe, cap, name);
	return safe;
}

static void put_next(const struct row_view *v, FILE *out)
{
	own(buf_fini) struct buf annotate = { 0 }, callers = { 0 };

	if (!v->n_shown || v->d->scope != DIMENSION_FRAME)
		return;

	uint32_t f = function_to_try(v);

	if (f == MODEL_NONE)
		return;

	own(freep) char *name = name_to_type(v, f);

	buf_puts(&annotate, "annotate ");
	report_text_quoted(&annotate, name);
	buf_puts(&callers, "callers ");
	report_text_quoted(&callers, name);

	const char *next[] = { buf_str(&annotate), buf_str(&callers), "tree" };

	report_text_next(v->r, next, 3, out);
}

static void print_text(struct row_view *v, FILE *out)
{
	report_head_print(v->r, out);
	if (!v->n_shown)
		report_text_nothing(v->r, out);
	else if (v->comparison.n_events)
		compare_table_print(v, out);
	else
		value_table_print(v, out);
	report_quality_print(v->r, out);
	put_next(v, out);
}

static void put_json_row(struct json *j, const struct row_view *v, size_t row)
{
	size_t at = row * v->m->n_columns;
	struct dimension_label label;

	grouping_label(v->g, row, &label);
	json_object(j);
	json_key_str(j, "name", buf_str(&label.name));
	if (label.image)
		json_key_str(j, "image", label.image);
	if (row_view_has_function(v) && label.function != MODEL_NONE)
		json_key_str(j, "function",
			     profile_function(v->r->profile, label.function)->name);
	if (label.file)
		json_key_str(j, "file", label.file);
	if (label.line)
		json_key_u64(j, "line", label.line);
	if (label.address)
		json_key_u64(j, "address", label.address);
	report_json_values(j, v->r, "exclusive", v->m->exclusive + at);
	report_json_values(j, v->r, "inclusive", v->m->inclusive + at);
	report_json_values(j, v->r, "samples", v->m->exclusive_counts + at);
	if (v->comparison.n_events)
		compare_table_json(v, j, row);
	json_object_end(j);
	grouping_label_fini(&label);
}

static void print_json(const struct row_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, v->d->name, out);
	for (size_t i = 0; i < v->n_shown; i++)
		put_json_row(&j, v, v->rows[i].id);
	report_json_end(&j, v->r);
}

int row_report_run(struct options *o, const struct dimension *d, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	own(row_view_fini) struct row_view v = { .r = &r, .d = d };
	int rc = report_profile_open(o, options_argv(o), true, DEFAULT_LIMIT, &r, e);

	if (rc == 0)
		rc = compare(&v, &r, e);
	if (rc == 0)
		rc = grouping_make(r.profile, d, &v.g, e);
	if (rc < 0)
		return rc;
	v.m = grouping_metrics(v.g);
	order_rows(&v);
	if (r.json)
		print_json(&v, stdout);
	else
		print_text(&v, stdout);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}
