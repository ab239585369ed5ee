/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/compare_table.h"
#include "cmd/diff_views.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/row_next.h"

#define DEFAULT_TREE_PCT 1.0

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
	  .default_text = "change, of the first event",
	  .text = "Order by KEY: change, inclusive-change, ratio, exclusive, inclusive "
		  "or "
		  "name" },
	{ .name = "share",
	  .kind = OPTION_FLAG,
	  .text = "Compare shares: scale each recording to the first one's total" },
	{ .name = "callers",
	  .kind = OPTION_STRING,
	  .arg = "FUNCTION",
	  .text = "Compare the callers and callees of FUNCTION" },
	{ .name = "annotate",
	  .kind = OPTION_STRING,
	  .arg = "FUNCTION",
	  .text = "Compare the source lines of FUNCTION" },
	{ .name = "tree",
	  .kind = OPTION_FLAG,
	  .text = "Compare calling contexts; --min is 1 % unless it is given" },
	OPTION_END,
};

enum order { CHANGE, INCLUSIVE_CHANGE, RATIO, EXCLUSIVE, INCLUSIVE, NAME };

static const char *const orders[] = { [CHANGE] = "change",
				      [INCLUSIVE_CHANGE] = "inclusive-change",
				      [RATIO] = "ratio",
				      [EXCLUSIVE] = "exclusive",
				      [INCLUSIVE] = "inclusive",
				      [NAME] = "name",
				      NULL };
static const struct report_rows shown_rows = { .orders = orders,
					       .limit = 30,
					       .is_compared = true };

static bool orders_changes(const struct row_view *v)
{
	return v->r->order <= RATIO;
}

/* What has not changed is ordered by what it has itself. */
static void weigh_row(struct row_view *v, size_t row)
{
	struct compare_cells cells = compare_table_cells(v);
	struct ranking_row *to = &v->rows[row];
	unsigned order = v->r->order;

	if (orders_changes(v)) {
		bool is_inclusive = order == INCLUSIVE_CHANGE || v->r->json;

		to->value = compare_cells_weight(
			&cells, row_view_values(v, row, order == INCLUSIVE_CHANGE),
			order == RATIO);
		to->tie = row_view_largest_share(v, row, false);
		to->tie += is_inclusive && row_view_largest_share(v, row, true);
	} else {
		to->value =
			row_view_values(v, row, order == INCLUSIVE)[v->r->sort_column];
		to->tie = row_view_largest_share(v, row, true);
	}
}

static void order_rows(struct row_view *v)
{
	struct ranking_options o = v->r->ranking;

	for (size_t i = 0; i < v->m->n_rows; i++) {
		weigh_row(v, i);
		v->n_nonzero += v->rows[i].tie != 0;
		o.total += orders_changes(v) ? v->rows[i].value : 0;
	}
	if (!orders_changes(v))
		o.total = row_view_total(v, v->r->sort_column);
	o.by_name = v->r->order == NAME;
	if (o.by_name)
		row_view_name_rows(v, v->m->n_rows);
	v->n_shown = ranking_order(v->rows, v->m->n_rows, &o);
}

static void print_text(const struct row_view *v, FILE *out)
{
	report_head_print(v->r, out);
	if (v->n_shown)
		compare_table_print(v, out);
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

static void print_json(const struct row_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, "diff", out);
	for (size_t i = 0; i < v->n_shown; i++)
		put_json_row(&j, v, v->rows[i].id);
	report_json_end(&j, v->r);
}

static int compare(struct row_view *v, const struct report *r, struct err *e)
{
	comparison_find(&v->comparison, r->profile, r->shown, r->n_shown);
	if (v->comparison.n_events)
		return 0;
	return err_set(e, ERR_USAGE,
		       "nothing to compare: the recordings have no event in common");
}

static int show_rows(struct row_view *v, struct err *e)
{
	int rc = row_view_open(v, true, e);

	if (rc < 0)
		return rc;
	order_rows(v);
	if (v->r->json)
		print_json(v, stdout);
	else
		print_text(v, stdout);
	return 0;
}

/* One function's callers or lines. */
static int show_function(const struct row_view *v, const char *name,
			 void (*show)(const struct compare_cells *c, uint32_t function,
				      const char *others),
			 struct err *e)
{
	struct compare_cells cells = compare_table_cells(v);
	struct report_function f;
	int rc = report_profile_find_function(v->r, name, &f, e);

	if (rc == 0)
		show(&cells, f.id, f.others);
	return rc;
}

static int show(struct row_view *v, const struct options *o, struct err *e)
{
	const char *callers = options_str(o, "callers");
	const char *annotate = options_str(o, "annotate");
	struct compare_cells cells = compare_table_cells(v);

	if (callers)
		return show_function(v, callers, diff_views_callers, e);
	if (annotate)
		return show_function(v, annotate, diff_views_annotate, e);
	if (!options_has(o, "tree"))
		return show_rows(v, e);
	diff_views_tree(&cells,
			options_has(o, "min") ? v->r->ranking.min_pct : DEFAULT_TREE_PCT);
	return 0;
}

static int run(struct options *o, struct err *e)
{
	const char *by = options_str(o, "by");
	own(report_profile_close) struct report r = { 0 };
	own(row_view_fini) struct row_view v = {
		.r = &r, .d = dimension_find(by ? by : "function")
	};
	int rc;

	if (options_argc(o) < 2 && !options_has(o, "db"))
		return err_set(e, ERR_USAGE, "name two recordings: dwell diff A B");
	rc = report_profile_open(o, options_argv(o), &shown_rows, &r, e);
	if (rc == 0 && r.n_paths < 2)
		rc = err_set(e, ERR_USAGE,
			     "nothing to compare: of the database one epoch is chosen");
	if (rc == 0)
		rc = compare(&v, &r, e);
	v.comparison.is_share = options_has(o, "share");
	if (rc == 0)
		rc = show(&v, o, e);
	if (rc < 0)
		return rc;
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options,
						    report_options_match,
						    report_options_rows,
						    report_options_ideal,
						    report_options_input,
						    report_options_output,
						    NULL };

static const struct command_example examples[] = {
	{ "dwell diff before.dwell after.dwell", "what got slower and what faster" },
	{ "dwell diff --by line before.dwell after.dwell", "in which lines" },
	{ "dwell diff --callers malloc before.dwell after.dwell",
	  "who calls it more than before" },
	{ "dwell diff --sort ratio --min 1% before.dwell after.dwell",
	  "what changed most for what it is" },
	{ NULL, NULL },
};

const struct command cmd_diff = {
	.name = "diff",
	.usage = "[options] [RECORDING RECORDING…]",
	.summary = "Show what changed from one recording to another",
	.description =
		"Compares recordings by the events that all of them have: the values of "
		"each, how they differ from the first's, and the ratio, the largest "
		"change first. A change marked ~ is no more than chance may make of so "
		"few samples; that two runs differ anyway it does not know: 'dwell "
		"stats' "
		"of several runs tells.\n\n"
		"Recordings of different length differ in every row: --share scales each "
		"to the total of the first.\n\n"
		"Functions of two builds are matched by name, also where the image has "
		"another version or the function moved to another source file or was "
		"split by the compiler. What has no match by name is guessed by its "
		"code, its callers and its callees; a guess is shown as old ≈ new, the "
		"foot says why, and --no-guess does without. Lines are counted from "
		"where their function begins. Threads, processes and intervals are the "
		"same when they are called so, whatever their numbers.\n\n"
		"Of a database (--db) each epoch that --since, --epoch and the like "
		"choose is "
		"a recording; so is a directory of one.\n\n"
		"docs/comparing.md tells all of it.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
