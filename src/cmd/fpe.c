/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
#include "cmd/fpe_view.h"
#include "cmd/report_options.h"

extern const struct command cmd_fpe;

static const struct option_spec own_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = "function|line|instruction|stack|type|thread|process",
	  .default_text = "function",
	  .text = "What the rows are: where exceptions were raised, which, or by whom" },
	{ .name = "sort",
	  .short_name = 's',
	  .kind = OPTION_CHOICE,
	  .arg = "TYPE",
	  .choices = "exceptions|invalid|denormal|divide-by-zero|overflow|underflow|"
		     "inexact|integer-divide",
	  .default_text = "exceptions",
	  .text = "Show the rows first that have most of it" },
	OPTION_END,
};

static int run(struct options *o, struct err *e)
{
	own(fpe_view_freep) struct fpe_rows *rows = fpe_view_new();

	return rows_view_run(&fpe_view, rows, o, e);
}

static const struct option_spec *const tables[] = { own_options, rows_view_options,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell fpe", "of the newest recording: which functions raise exceptions" },
	{ "dwell fpe --by line --sort invalid a.dwell", "where NaNs come from" },
	{ "dwell fpe --by stack a.dwell", "who called" },
	{ "dwell fpe --by type --filter 'thread == worker' a.dwell",
	  "what the workers raise" },
	{ NULL, NULL },
};

const struct command cmd_fpe = {
	.name = "fpe",
	.usage = "[options] [RECORDING…]",
	.summary = "Show where floating-point exceptions were raised",
	.description =
		"Of recordings by the experiment fpe: every instruction that raised a "
		"floating-point exception of the types that were asked for, and every "
		"division of integers that failed. An instruction that works on several "
		"values counts once, and once in the column of each type that it "
		"raised. Counts are exact.\n\n"
		"The other reports know the same values as events: 'dwell tree --event "
		"invalid' shows them by calling context, 'dwell report --by instruction "
		"--event overflow' beside the instructions' text.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
