/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/row_report.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/compare_rows.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_profile.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/report_under.h"
#include "cmd/row_code.h"
#include "cmd/row_next.h"
#include "cmd/row_stalled.h"
#include "cmd/value_table.h"

enum order { EXCLUSIVE, INCLUSIVE, NAME, STALLED };

static const char *const orders[] = {
	[EXCLUSIVE] = "exclusive", [INCLUSIVE] = "inclusive", [NAME] = "name", NULL
};
static const char *const orders_of_code[] = { [EXCLUSIVE] = "exclusive",
					      [INCLUSIVE] = "inclusive",
					      [NAME] = "name",
					      [STALLED] = "stalled",
					      NULL };
static const struct report_rows shown_rows = { .orders = orders, .limit = 30 };
static const struct report_rows shown_code = { .orders = orders_of_code,
					       .limit = 30,
					       .has_code = true };

const struct option_spec row_report_options[] = {
	{ .name = "cum",
	  .kind = OPTION_FLAG,
	  .text = "Show of each event what a row and those above it make up" },
	{ .name = "compare",
	  .kind = OPTION_CHOICE,
	  .arg = "WITH",
	  .choices = "ideal",
	  .text = "Put sampled CPU time beside the ideal time of a recording of exact "
		  "counts, most time lost first" },
	OPTION_END,
};

const struct option_spec row_report_options_code[] = {
	{ .name = "sort",
	  .short_name = 's',
	  .kind = OPTION_STRING,
	  .arg = "KEY[:EVENT]",
	  .default_text = "exclusive, by the first event",
	  .text = "Order by KEY: exclusive, inclusive or name, instructions also by "
		  "stalled" },
	{ .name = "seconds",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 0,
	  .max = 100000,
	  .default_text = "1",
	  .text = "Look for what instructions waited for for so many seconds of CPU "
		  "time, "
		  "and tell what was left out; 0: at all" },
	OPTION_END,
};

/* Which of two that are equal in the order's own column comes first; 0: nothing of the
 * row would be shown. */
static uint64_t tie_of(const struct row_view *v, size_t row)
{
	if (v->no_inclusive && !row_view_largest_share(v, row, false))
		return 0;
	return row_view_largest_share(v, row, true);
}

/* What is 0 in the order's own column still comes before what is nothing at all. */
static int order_rows(struct row_view *v, struct err *e)
{
	struct ranking_options o = v->r->ranking;
	size_t c = v->r->sort_column;
	int rc = 0;

	v->n_nonzero = 0;
	if (!v->m->n_columns)
		return 0;
	for (size_t i = 0; i < v->m->n_rows; i++) {
		size_t row = v->rows[i].id;

		v->rows[i].value = row_view_values(v, row, v->r->order == INCLUSIVE)[c];
		v->rows[i].tie = tie_of(v, row);
		v->n_nonzero += v->rows[i].value || v->rows[i].tie;
	}
	o.total = row_view_total(v, c);
	if (v->code && v->r->order == STALLED)
		rc = row_stalled_weigh(v, v->code, o.total, e);
	if (rc < 0)
		return rc;
	o.by_name = v->r->order == NAME;
	if (o.by_name)
		row_view_name_rows(v, v->m->n_rows);
	v->n_shown = ranking_order(v->rows, v->m->n_rows, &o);
	return v->code ? row_code_look(v->code, v->rows, v->n_shown, e) : 0;
}

/* The row to look into: that has most itself. */
static size_t hottest_row(const struct row_view *v)
{
	size_t c = v->r->sort_column, best = v->rows[0].id;

	for (size_t i = 1; i < v->n_shown; i++)
		if (row_view_values(v, v->rows[i].id, false)[c] >
		    row_view_values(v, best, false)[c])
			best = v->rows[i].id;
	return best;
}

static bool shows_functions(const struct row_view *v)
{
	return strcmp(v->d->name, "function") == 0;
}

static void print_text(const struct row_view *v, size_t n_others, FILE *out)
{
	report_head_print(v->r, out);
	if (v->n_shown)
		value_table_print(v, n_others, out);
	else if (v->code && v->r->order == STALLED)
		fputs("Nothing is known to have stalled.\n", out);
	else
		report_text_nothing(v->r, out);
	if (v->code)
		row_code_print_legend(v->code, out);
	if (shows_functions(v))
		report_under_print(v->r, out);
	report_quality_print(v->r, out);
	if (v->n_shown)
		row_next_print(v, hottest_row(v), false, out);
}

static void put_json_row(struct json *j, const struct row_view *v, size_t row,
			 uint64_t *sums)
{
	size_t at = row * v->m->n_columns;

	json_object(j);
	row_view_json_names(v, j, row);
	if (v->code)
		row_code_json(v->code, row, j);
	report_json_values(j, v->r, "exclusive", v->m->exclusive + at);
	report_json_values(j, v->r, "inclusive", v->m->inclusive + at);
	report_json_values(j, v->r, "samples", v->m->exclusive_counts + at);
	for (size_t c = 0; c < v->m->n_columns; c++)
		sums[c] += v->m->exclusive[at + c];
	if (v->has_sums)
		report_json_values(j, v->r, "cumulative", sums);
	json_object_end(j);
}

static void print_json(const struct row_view *v, FILE *out)
{
	own(freep) uint64_t *sums = xcalloc(v->m->n_columns + 1, sizeof(*sums));
	struct json j;

	report_json_begin(&j, v->r, v->d->name, out);
	for (size_t i = 0; i < v->n_shown; i++)
		put_json_row(&j, v, v->rows[i].id, sums);
	report_json_end(&j, v->r);
}

/* Of two recordings, in whatever order: what was counted, and what was sampled. */
static int compare_ideal(struct options *o, const struct dimension *d, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	own(row_view_fini) struct row_view v = { .r = &r, .d = d };
	int rc = report_profile_open(o, options_argv(o), &compare_rows_shown, &r, e);

	if (rc == 0 && !comparison_find_ideal(&v.comparison, r.profile))
		rc = err_set(e, ERR_USAGE,
			     "to compare with ideal time, name a recording by bbcounts "
			     "and one that sampled cpu-time");
	if (rc == 0)
		rc = compare_rows_show(&v, d->name, e);
	if (rc < 0)
		return rc;
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

int row_report_run(struct options *o, const struct dimension *d, struct err *e)
{
	if (options_str(o, "compare"))
		return compare_ideal(o, d, e);

	own(report_profile_close) struct report r = { 0 };
	own(row_code_freep) struct row_code *code = NULL;
	own(row_view_fini) struct row_view v = { .r = &r,
						 .d = d,
						 .has_sums = options_has(o, "cum") };
	bool is_code = strcmp(d->name, "instruction") == 0;
	size_t n_others = 0;
	int rc = report_profile_open(o, options_argv(o),
				     is_code ? &shown_code : &shown_rows, &r, e);

	if (rc == 0)
		rc = row_view_open(&v, false, e);
	if (rc == 0 && is_code)
		rc = row_code_new(&r, v.g, o, &code, e);
	v.code = code;
	v.no_inclusive = is_code && r.order != INCLUSIVE;
	if (rc == 0)
		rc = order_rows(&v, e);
	if (rc < 0)
		return rc;
	/* Whatever stalled has time. */
	if (!r.json && !(code && r.order == STALLED))
		rc = row_view_fit(&v, value_table_n_events, order_rows, &n_others, e);
	if (rc < 0)
		return rc;
	r.n_late_rows = code ? row_code_n_late(code, v.rows, v.n_shown) : 0;
	if (r.json)
		print_json(&v, stdout);
	else
		print_text(&v, n_others, stdout);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}
