/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/command.h"
#include "cmd/report_options.h"
#include "cmd/row_report.h"

static const struct option_spec own_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = DIMENSION_NAMES,
	  .default_text = "function",
	  .text = "What the rows are" },
	OPTION_END,
};

static int run(struct options *o, struct err *e)
{
	const char *by = options_str(o, "by");

	return row_report_run(o, dimension_find(by ? by : "function"), e);
}

static const struct option_spec *const tables[] = { own_options,
						    row_report_options,
						    row_report_options_code,
						    report_options_rows,
						    report_options_ideal,
						    report_options_input,
						    report_options_output,
						    NULL };

static const struct command_example examples[] = {
	{ "dwell report", "the functions of the newest recording here" },
	{ "dwell report --by thread a.dwell", "the threads of a recording" },
	{ "dwell report --filter 'time in 1s..2s && mode == kernel'",
	  "what the kernel did for the program in that second" },
	{ "dwell report --event cycles,cache-misses --cum",
	  "two events side by side, with how much the rows make up so far" },
	{ "dwell report --by instruction --sort stalled time.dwell count.dwell",
	  "the instructions that stalled most, and why" },
	{ "dwell report a.dwell b.dwell", "two recordings side by side" },
	{ NULL, NULL },
};

const struct command cmd_report = {
	.name = "report",
	.usage = "[options] [RECORDING…]",
	.summary = "Show where the time went, by function or anything else",
	.description =
		"Prints exclusive values (spent in the function itself) and inclusive "
		"ones (spent in it and in what it called; each function once per stack, "
		"so recursion is not counted twice) of every event, heaviest first. "
		"Events with nothing in them are left out; where not all have room, so "
		"are rows that have only others, and the last lines say which.\n\n"
		"The events of totaltime are the parts of total-time, which the rows "
		"show "
		"and are ordered by; beside it stands how a row's inclusive total-time "
		"splits, in percent. --event NAME shows one of them alone. A thread that "
		"waits is always inside the kernel's scheduler: below blocked-time the "
		"head names the innermost calls outside the kernel that waited longest, "
		"and who called them.\n\n"
		"By instruction it is told what each is and, of those with most CPU "
		"time, "
		"how much longer than a machine model expects the instruction before "
		"took, which the samples landed behind, and every cause that cannot be "
		"ruled out, as 'dwell calc' and 'dwell stalls' name them. How often it "
		"was executed comes from a recording of bbcounts of the same program "
		"beside this one; without it that is an estimate.\n\n"
		"Without a file the newest recording (*.dwell) of the current directory "
		"is read. Several are shown side by side: 'dwell diff' compares two, "
		"'dwell stats' tells how much many of them differ.\n\n"
		"The last lines tell what was lost, what was truncated and what has no "
		"name, and how the sampled CPU time compares with what the system says "
		"was "
		"used. When a recording is damaged, what can be read is reported and the "
		"exit code is 1.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
