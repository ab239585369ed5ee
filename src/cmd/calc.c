/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/calc_view.h"
#include "cmd/command.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "cmd/report_text.h"

extern const struct command cmd_calc;

static const struct option_spec own_options[] = {
	{ .name = "all",
	  .kind = OPTION_FLAG,
	  .text = "Also blocks that took next to no time" },
	{ .name = "intel", .kind = OPTION_FLAG, .text = "Intel's syntax for x86" },
	OPTION_END,
};

static void print(const struct calc_view *v, const char *others)
{
	struct json j;

	if (v->r->json) {
		report_json_begin(&j, v->r, "calc", stdout);
		calc_json_print(v, &j);
		report_json_end(&j, v->r);
		return;
	}
	report_text_others(v->r, others, stdout);
	calc_text_print(v, stdout);
}

static int run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	own(calc_view_fini) struct calc_view v = { 0 };
	struct report_function f;
	int rc = report_profile_open_function(o, "calc", &report_profile_of_code, &r, &f,
					      e);

	if (rc != 0)
		return rc;
	rc = calc_view_init(&v, &r, f.id, o, e);
	if (rc < 0)
		return rc;
	print(&v, f.others);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_ideal,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell run --insn -o time.dwell -- prog",
	  "samples of time, and which way branches went" },
	{ "dwell calc parse",
	  "what each instruction of parse took, in ranges: of the newest recording" },
	{ "dwell run -e bbcounts -o count.dwell -- prog", "every instruction counted" },
	{ "dwell calc parse time.dwell count.dwell", "the same in numbers" },
	{ NULL, NULL },
};

const struct command cmd_calc = {
	.name = "calc",
	.usage = "[options] FUNCTION [RECORDING…]",
	.summary = "Show what each instruction of a function took, beside the best case",
	.description =
		"The function's basic blocks with their samples, how often they were "
		"executed, the cycles that they took each time, and those that they take "
		"at best, where all that a machine model knows of is at hand: caches "
		"hit, "
		"branches are foreseen.\n\n"
		"An instruction has the time for which it was the oldest one that had "
		"not "
		"retired: samples land on the one behind it. What landed on a block's "
		"first instruction was spent on the way there.\n\n"
		"How often comes from a recording of bbcounts of the same program, which "
		"is given beside the one of time. Without one it is estimated from the "
		"samples, and from the directions of branches (run --insn): ranges, "
		"whose confidence is told, instead of numbers. Several recordings of "
		"time are added up.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
