/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
#include "cmd/report_options.h"
#include "cmd/row_report.h"

static int run(struct options *o, struct err *e)
{
	return row_report_run(o, dimension_find("line"), e);
}

static const struct option_spec *const tables[] = { row_report_options,
						    report_options_sort,
						    report_options_rows,
						    report_options_ideal,
						    report_options_input,
						    report_options_output,
						    NULL };

static const struct command_example examples[] = {
	{ "dwell lines --limit 50", "the hottest source lines" },
	{ NULL, NULL },
};

const struct command cmd_lines = {
	.name = "lines",
	.usage = "[options] [RECORDING…]",
	.summary = "Show where the time went, by source line",
	.description = "Is \"dwell report --by line\": the lines of all functions, "
		       "inlined code at the line it was written on. Without line "
		       "information a function is one row.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
