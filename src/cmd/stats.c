/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/stats_table.h"

static const struct option_spec own_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = DIMENSION_NAMES,
	  .default_text = "function",
	  .text = "What the rows are" },
	{ .name = "sort",
	  .short_name = 's',
	  .kind = OPTION_STRING,
	  .arg = "KEY[:EVENT]",
	  .default_text = "range, of the first event",
	  .text = "Order by KEY: range, sum, deviation, min, max or name" },
	{ .name = "limit",
	  .short_name = 'n',
	  .kind = OPTION_U64,
	  .arg = "N",
	  .default_text = "30",
	  .text = "At most N rows; 0: all" },
	{ .name = "min",
	  .kind = OPTION_STRING,
	  .arg = "PCT",
	  .default_text = "0.1 %",
	  .text = "Leave out rows with less than PCT percent of the sum" },
	{ .name = "inclusive",
	  .kind = OPTION_FLAG,
	  .text = "Of inclusive values: what a row calls counts with it" },
	{ .name = "share",
	  .kind = OPTION_FLAG,
	  .text = "Compare shares: scale each recording to the mean total" },
	OPTION_END,
};

enum order { RANGE, SUM, DEVIATION, MIN, MAX, NAME };

static const char *const orders[] = { [RANGE] = "range",
				      [SUM] = "sum",
				      [DEVIATION] = "deviation",
				      [MIN] = "min",
				      [MAX] = "max",
				      [NAME] = "name",
				      NULL };
static const struct report_rows shown_rows = {
	.orders = orders, .limit = 30, .min_pct = 0.1, .is_compared = true
};

/* A range that chance may have made comes after all others. */
static uint64_t weight_of(unsigned order, const struct spread *r)
{
	const double values[] = {
		[RANGE] = r->is_chance ? 0 : r->range * 1e12,
		[SUM] = r->sum,
		[DEVIATION] = r->deviation * 1000,
		[MIN] = r->min,
		[MAX] = r->max,
		[NAME] = r->sum,
	};

	return (uint64_t)values[order];
}

/* Rows that weigh too little in all recordings together are not ranked. */
static void order_rows(struct stats_view *v)
{
	struct row_view *rows = &v->rows;
	struct ranking_options o = { .limit = rows->r->ranking.limit,
				     .by_name = rows->r->order == NAME };
	double least =
		rows->r->ranking.min_pct / 100 * spread_of_totals(&v->sets[v->event]).sum;
	size_t n = 0;

	for (size_t i = 0; i < rows->m->n_rows; i++) {
		struct spread r = stats_table_spread(v, v->event, i);

		rows->n_nonzero += r.sum > 0;
		v->n_small += r.sum > 0 && r.sum < least;
		if (r.sum <= 0 || r.sum < least)
			continue;
		rows->rows[n++] = (struct ranking_row){
			.id = i,
			.value = weight_of(rows->r->order, &r),
			.tie = (uint64_t)r.sum,
		};
	}
	if (o.by_name)
		row_view_name_rows(rows, n);
	rows->n_shown = ranking_order(rows->rows, n, &o);
}

static void put_json_spread(struct json *j, const struct spread *r)
{
	json_object(j);
	json_key_double(j, "range", r->range);
	json_key_double(j, "sum", r->sum);
	json_key_u64(j, "n", r->n);
	json_key_double(j, "mean", r->mean);
	json_key_double(j, "deviation", r->deviation);
	json_key_double(j, "min", r->min);
	json_key_double(j, "max", r->max);
	json_key_bool(j, "chance", r->is_chance);
	json_object_end(j);
}

static const char *event_name(const struct stats_view *v, size_t event)
{
	size_t column = comparison_column(&v->rows.comparison, event, 0);

	return profile_column(v->rows.r->profile, column)->name;
}

static void put_json_row(struct json *j, const struct stats_view *v, size_t row)
{
	const uint64_t *values = row_view_values(&v->rows, row, v->is_inclusive);

	json_object(j);
	row_view_json_names(&v->rows, j, row);
	json_key(j, "spread");
	json_object(j);
	for (size_t e = 0; e < v->rows.comparison.n_events; e++) {
		struct spread r = stats_table_spread(v, e, row);

		json_key(j, event_name(v, e));
		put_json_spread(j, &r);
	}
	json_object_end(j);
	report_json_values(j, v->rows.r, v->is_inclusive ? "inclusive" : "exclusive",
			   values);
	json_object_end(j);
}

static void print_json(const struct stats_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->rows.r, "stats", out);
	for (size_t i = 0; i < v->rows.n_shown; i++)
		put_json_row(&j, v, v->rows.rows[i].id);
	report_json_end(&j, v->rows.r);
}

static void print_text(const struct stats_view *v, FILE *out)
{
	stats_table_print_head(v, out);
	if (v->rows.n_shown)
		stats_table_print(v, out);
	else
		report_text_nothing(v->rows.r, out);
	report_quality_print_gaps(v->rows.r, out);
	if (v->rows.n_shown)
		stats_table_print_next(v, out);
}

/* The event that --sort names, else the first that has something. */
static size_t event_to_show(const struct stats_view *v)
{
	const struct row_view *rows = &v->rows;

	for (size_t e = 0; e < rows->comparison.n_events; e++)
		for (size_t i = 0; i < rows->comparison.n_sources; i++)
			if (comparison_column(&rows->comparison, e, i) ==
			    rows->r->sort_column)
				return e;
	return 0;
}

static int open_rows(struct stats_view *v, const struct report *r, struct err *e)
{
	struct row_view *rows = &v->rows;

	comparison_find(&rows->comparison, r->profile, r->shown, r->n_shown);
	if (!rows->comparison.n_events)
		return err_set(e, ERR_USAGE,
			       "nothing to compare: the recordings have no event in "
			       "common");
	v->event = event_to_show(v);
	v->sets = xcalloc(rows->comparison.n_events, sizeof(*v->sets));
	for (size_t i = 0; i < rows->comparison.n_events; i++)
		spread_sets_init(&v->sets[i], r->profile, &rows->comparison, i,
				 v->is_share);
	return row_view_open(rows, true, e);
}

static void stats_fini(struct stats_view *v)
{
	for (size_t i = 0; v->sets && i < v->rows.comparison.n_events; i++)
		spread_sets_fini(&v->sets[i]);
	free(v->sets);
	row_view_fini(&v->rows);
}

static int run(struct options *o, struct err *e)
{
	const char *by = options_str(o, "by");
	own(report_profile_close) struct report r = { 0 };
	own(stats_fini) struct stats_view v = {
		.rows = { .r = &r, .d = dimension_find(by ? by : "function") },
		.is_inclusive = options_has(o, "inclusive"),
		.is_share = options_has(o, "share"),
	};
	int rc;

	if (options_argc(o) < 2 && !options_has(o, "db"))
		return err_set(e, ERR_USAGE,
			       "name the recordings to compare: dwell stats R1 R2…");
	rc = report_profile_open(o, options_argv(o), &shown_rows, &r, e);
	if (rc == 0 && r.n_paths < 2)
		rc = err_set(e, ERR_USAGE,
			     "nothing to compare: of the database one epoch is chosen");
	if (rc == 0)
		rc = open_rows(&v, &r, e);
	if (rc < 0)
		return rc;
	order_rows(&v);
	if (r.json)
		print_json(&v, stdout);
	else
		print_text(&v, stdout);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = {
	own_options,	      report_options_match,  report_options_ideal,
	report_options_input, report_options_output, NULL
};

static const struct command_example examples[] = {
	{ "dwell stats run*.dwell", "which functions make runs of a program differ" },
	{ "dwell stats --share run*.dwell", "the same of runs of different length" },
	{ "dwell stats --db /var/lib/dwell --since 7d",
	  "how the epochs of a week differ" },
	{ "dwell stats --by image --sort sum run*.dwell", "the mean of each image" },
	{ NULL, NULL },
};

const struct command cmd_stats = {
	.name = "stats",
	.usage = "[options] [RECORDING RECORDING…]",
	.summary = "Show how much many recordings differ, by function or anything else",
	.description =
		"Prints for every row over all recordings: the range, which is the "
		"largest value less the smallest, divided by the sum; the sum and its "
		"share of everything; N, in how many recordings the row occurs; the "
		"mean, the standard deviation, the smallest and the largest value. A "
		"recording without the row counts as 0. The largest range comes first: "
		"what made the runs differ.\n\n"
		"A sampled value varies even where the program does not. A range marked "
		"~ "
		"is no more than that: by the numbers of samples, equal runs spread as "
		"much in one of twenty cases or more (a chi-square test of equal rates). "
		"Such rows come last.\n\n"
		"Of a database (--db) each epoch that --since, --epoch and the like "
		"choose is "
		"a recording; so is a directory of one.\n\n"
		"Runs that differ in total differ in most rows. --share scales each "
		"recording to the mean total, so that rows stand out that take more "
		"or less of a run than in others.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
