/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
#include "cmd/compare_rows.h"
#include "cmd/compare_table.h"
#include "cmd/diff_views.h"
#include "cmd/report_options.h"

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

static int compare(struct row_view *v, const struct report *r, struct err *e)
{
	comparison_find(&v->comparison, r->profile, r->shown, r->n_shown);
	if (v->comparison.n_events)
		return 0;
	return err_set(e, ERR_USAGE,
		       "nothing to compare: the recordings have no event in common");
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
		return compare_rows_show(v, "diff", e);
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
	rc = report_profile_open(o, options_argv(o), &compare_rows_shown, &r, e);
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
