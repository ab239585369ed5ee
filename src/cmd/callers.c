/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/callers_view.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "cmd/report_profile.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"

/* What is attributed has no other order: the first two choose an event only. */
static const char *const orders[] = { "exclusive",
				      "inclusive", [CALLERS_VIEW_BY_NAME] = "name",
				      NULL };
static const struct report_rows edge_rows = { .orders = orders, .limit = 15 };

static void print_text(struct callers_view *v, const char *others, FILE *out)
{
	report_head_print(v->r, out);
	report_text_others(v->r, others, out);
	callers_view_print(v, out);
	report_quality_print(v->r, out);
}

static void print_json(const struct callers_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, "callers", out);
	json_object(&j);
	report_json_function(&j, v->r, v->function);
	callers_view_json(v, &j);
	json_object_end(&j);
	report_json_end(&j, v->r);
}

static int run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	struct callers_view v;
	struct report_function f;
	int rc = report_profile_open_function(o, "callers", &edge_rows, &r, &f, e);

	if (rc != 0)
		return rc;
	callers_view_init(&v, &r, f.id);
	if (r.json)
		print_json(&v, stdout);
	else
		print_text(&v, f.others, stdout);
	callers_view_fini(&v);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = {
	report_options_sort,  report_options_rows,   report_options_ideal,
	report_options_input, report_options_output, NULL
};

static const struct command_example examples[] = {
	{ "dwell callers malloc", "who calls malloc, and what it calls" },
	{ NULL, NULL },
};

const struct command cmd_callers = {
	.name = "callers",
	.usage = "[options] FUNCTION [RECORDING…]",
	.summary =
		"Show a function's callers and callees with what is attributed to each",
	.description =
		"The callers' values add up to the function's inclusive value; so do its "
		"own (exclusive) value and those of its callees. Per stack the innermost "
		"occurrence of the function decides, so that in recursion a function can "
		"be its own caller. <total> stands for no caller.\n\n"
		"FUNCTION is a whole name, a name without its parameters, a linkage "
		"name, else what the C library calls so inside (__libc_malloc is "
		"malloc), else a word of a name, else any part of one, with … for "
		"anything as reports shorten them; of several the one with most samples "
		"of its own is shown and the others are named.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
