/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
#include "cmd/report_options.h"
#include "cmd/row_report.h"

static int run(struct options *o, struct err *e)
{
	return row_report_run(o, dimension_find("instruction"), e);
}

static const struct option_spec *const tables[] = { row_report_options,
						    row_report_options_code,
						    report_options_rows,
						    report_options_ideal,
						    report_options_input,
						    report_options_output,
						    NULL };

static const struct command_example examples[] = {
	{ "dwell pcs --limit 50", "the hottest instructions" },
	{ NULL, NULL },
};

const struct command cmd_pcs = {
	.name = "pcs",
	.usage = "[options] [RECORDING…]",
	.summary = "Show where the time went, by instruction address",
	.description = "Is \"dwell report --by instruction\": link-time addresses as nm "
		       "and objdump print them, with function, line and image, and "
		       "what the instructions are and waited for.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
