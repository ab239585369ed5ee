/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/sync_rows.h"
#include "cmd/command.h"
#include "cmd/report_options.h"
#include "cmd/sync_view.h"

extern const struct command cmd_sync;

static const struct option_spec own_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = "lock|stack|holder|thread",
	  .default_text = "lock",
	  .text = "What the rows are: what was waited for; stacks of those who waited, "
		  "or "
		  "of those who let them; threads that waited" },
	{ .name = "histogram",
	  .kind = OPTION_FLAG,
	  .text = "Show how many waits took how long; --filter chooses which" },
	OPTION_END,
};

static int run(struct options *o, struct err *e)
{
	own(sync_rows_fini) struct sync_rows sync = { 0 };

	return rows_view_run(&sync_view, &sync, o, e);
}

static const struct option_spec *const tables[] = { own_options, rows_view_options,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell sync", "of the newest recording: which locks are waited for most" },
	{ "dwell sync --by holder a.dwell", "who held them meanwhile" },
	{ "dwell sync --by stack --filter 'thread == worker'", "where workers wait" },
	{ "dwell sync --histogram --filter 'function == queue_lock'",
	  "how long the waits for one lock are" },
	{ NULL, NULL },
};

const struct command cmd_sync = {
	.name = "sync",
	.usage = "[options] [RECORDING…]",
	.summary = "Show which locks threads wait for, where, and who held them",
	.description =
		"Of recordings by the experiment sync: every wait of a thread for "
		"another that took longer than a threshold, with what it waited for, "
		"its stack, and the stack of who let it wait. Waits for locks that "
		"others hold are one table; another has what it is no fault to wait "
		"for: conditions, semaphores, barriers and the ends of threads; and "
		"futexes, words of which nothing tells what they are. As root, waits of "
		"any language are there, else those for which the C library is called. A "
		"lock "
		"is named by its variable, or by its address and below it who waited for "
		"it. Longest is the power of two below which the longest wait was. A "
		"wait that several holders let pass is charged to each for the time "
		"until its release. Waits that had not ended when their thread did, or "
		"the recording, are listed below: which thread has waited for what, "
		"since when, in which stack, and who held it.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
