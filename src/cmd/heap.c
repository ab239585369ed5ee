/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/heap_growth_view.h"
#include "cmd/heap_view.h"
#include "cmd/report_options.h"

extern const struct command cmd_heap;

static const struct option_spec own_options[] = {
	{ .name = "leaks",
	  .kind = OPTION_FLAG,
	  .text = "What was never given back, by bytes (without another view)" },
	{ .name = "lost",
	  .kind = OPTION_FLAG,
	  .text = "Of leaks, what nothing pointed to any more at the end, by bytes" },
	{ .name = "peak",
	  .kind = OPTION_FLAG,
	  .text = "What each process held when it held most, by bytes" },
	{ .name = "churn",
	  .kind = OPTION_FLAG,
	  .text = "Who allocates how often and how much, by calls" },
	{ .name = "mapped",
	  .kind = OPTION_FLAG,
	  .text = "Memory that the program mapped itself, past the allocator" },
	{ .name = "sizes",
	  .kind = OPTION_FLAG,
	  .text = "Allocations by size, and blocks by how long they lived" },
	{ .name = "timeline",
	  .kind = OPTION_FLAG,
	  .text = "What was held over time, by the process that held most, with marks" },
	{ .name = "between",
	  .kind = OPTION_STRING,
	  .arg = "A,B",
	  .text = "What was allocated after A and is still there at B, by bytes: marks "
		  "or numbers of intervals (dwell global), start or end" },
	{ .name = "depth",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .default_text = "12",
	  .text = "At most N callers of each place; 0: all" },
	{ .name = "limit",
	  .short_name = 'n',
	  .kind = OPTION_U64,
	  .arg = "N",
	  .default_text = "10, of --timeline 24",
	  .text = "At most N places, or lines over time; 0: all" },
	OPTION_END,
};

#define DEFAULT_LIMIT 10
#define DEFAULT_DEPTH 12

static int choose_view(const struct options *o, const struct heap_table **ret,
		       struct err *e)
{
	unsigned n = 0;

	*ret = heap_tables[0];
	for (size_t i = 0; heap_tables[i]; i++) {
		if (!options_has(o, heap_tables[i]->name))
			continue;
		*ret = heap_tables[i];
		n++;
	}
	return n + options_has(o, "between") > 1
		       ? err_set(e, ERR_USAGE, "one view at a time")
		       : 0;
}

static int run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	struct heap_view v = { .report = &r };
	const struct report_rows rows = { .experiment = "heap" };
	int rc = choose_view(o, &v.table, e);

	if (rc == 0)
		rc = report_profile_open(o, options_argv(o), &rows, &r, e);
	if (rc < 0)
		return rc;
	v.limit = options_u64(o, "limit",
			      r.json	       ? 0
			      : v.table->limit ? v.table->limit
					       : DEFAULT_LIMIT);
	v.depth = options_u64(o, "depth", r.json ? 0 : DEFAULT_DEPTH);
	rc = heap_view_load(&v, e);
	if (rc == 0)
		r.sort_column = heap_places_column(r.profile, v.table->order);
	if (rc == 0 && options_has(o, "between"))
		rc = heap_growth_view(&v, options_str(o, "between"), stdout, e);
	else if (rc == 0 && r.json)
		rc = heap_view_json(&v, stdout, e);
	else if (rc == 0)
		rc = heap_view_print(&v, stdout, e);
	heap_view_fini(&v);
	return rc < 0 ? rc : report_profile_check_whole(&r, e);
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell heap", "what the newest recording's program never gave back" },
	{ "dwell heap --lost a.dwell", "what it could not have given back any more" },
	{ "dwell heap --peak a.dwell", "who held its memory when it held most" },
	{ "dwell heap --between warm,done",
	  "what was allocated after the mark warm and is there at done" },
	{ "dwell heap --timeline", "how what is held grows and shrinks" },
	{ "dwell heap --churn --filter 'thread == worker'", "who allocates in workers" },
	{ NULL, NULL },
};

const struct command cmd_heap = {
	.name = "heap",
	.usage = "[options] [RECORDING…]",
	.summary = "Show who allocates memory: leaks, peak, churn, sizes",
	.description =
		"Of a recording by the experiment heap ('dwell run -e heap'). First what "
		"each process took, gave back, and held at most and when; then the "
		"places that allocated, each with its callers, innermost first. A leak "
		"is a block that was not given back when the program ended or the "
		"recording did. What nothing pointed to any more when the program ended "
		"is "
		"lost; what only lost blocks point to is lost with them; what is pointed "
		"to "
		"only within, and not at its beginning, is possibly lost. Amounts "
		"are what the program asked for, without what the allocator adds. By "
		"size and over time whole heaps are shown: --filter does not change "
		"sizes, and over time it chooses the process.\n\n"
		"The other reports know the same values as events: 'dwell tree --event "
		"peak-bytes' shows the peak by calling context, 'dwell export' draws it.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
