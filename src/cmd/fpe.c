/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/command.h"
#include "cmd/fpe_view.h"
#include "cmd/report_options.h"

extern const struct command cmd_fpe;

#define DEFAULT_ROWS 20

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
	{ .name = "limit",
	  .short_name = 'n',
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 0,
	  .max = UINT32_MAX,
	  .default_text = "20, in JSON 0",
	  .text = "Print at most N rows; 0: all" },
	OPTION_END,
};

static unsigned sort_of(const char *word)
{
	for (unsigned i = 0; word && i < FPE_VIEW_EVENTS; i++)
		if (strcmp(fpe_view_events[i].name, word) == 0)
			return i;
	return 0;
}

static int run(struct options *o, struct err *e)
{
	own(fpe_view_fini) struct fpe_view v = { 0 };
	int rc = report_profile_open(o, options_argv(o), NULL, &v.report, e);
	size_t limit;

	if (rc < 0)
		return rc;
	v.by = options_has(o, "by") ? options_str(o, "by") : "function";
	v.sort = sort_of(options_str(o, "sort"));
	rc = fpe_view_load(&v, e);
	if (rc < 0)
		return rc;
	limit = (size_t)options_u64(o, "limit", v.report.json ? 0 : DEFAULT_ROWS);
	v.n_shown = limit && limit < v.rows.n ? limit : v.rows.n;
	if (v.report.json)
		fpe_json_print(&v, stdout);
	else
		fpe_text_print(&v, stdout);
	rc = report_profile_check_whole(&v.report, e);
	return rc < 0 ? rc : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
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
