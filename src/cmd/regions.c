/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
#include "cmd/regions_view.h"
#include "cmd/report_options.h"

extern const struct command cmd_regions;

static const struct option_spec own_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = "region|thread|tree",
	  .default_text = "region",
	  .text = "What the rows are: regions; those of each thread; regions in the ones "
		  "that they are in" },
	{ .name = "sort",
	  .short_name = 's',
	  .kind = OPTION_CHOICE,
	  .arg = "KEY",
	  .choices = "exclusive|inclusive|calls",
	  .default_text = "exclusive, in a tree inclusive",
	  .text = "Show the rows first that have most of it" },
	{ .name = "history",
	  .kind = OPTION_FLAG,
	  .text = "Show the performance callstacks that were recorded, by time" },
	OPTION_END,
};

static int run(struct options *o, struct err *e)
{
	own(regions_view_fini) struct regions_view regions = { 0 };

	return rows_view_run(options_has(o, "history") ? &regions_view_history
						       : &regions_view_kind,
			     &regions, o, e);
}

static const struct option_spec *const tables[] = { own_options, rows_view_options,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell regions", "of the newest recording: calls and times of each region" },
	{ "dwell regions --by tree r.dwell", "within which other regions" },
	{ "dwell regions --by thread --filter 'thread == worker' r.dwell",
	  "of some threads" },
	{ "dwell regions --history r.dwell",
	  "what was active over time, of a recording by --callstack-every" },
	{ NULL, NULL },
};

const struct command cmd_regions = {
	.name = "regions",
	.usage = "[options] [RECORDING…]",
	.summary = "Show how often marked blocks ran, and how long",
	.description =
		"Of recordings by the experiment regions: the blocks that a program "
		"marks by dwell.h, and functions compiled with -finstrument-functions. "
		"Subroutines are the regions that were begun directly within one. "
		"Inclusive is the time with what is inside, in which a region that is "
		"within itself counts once. Counters show what was added to them.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
