/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/report_options.h"
#include "cmd/sync_view.h"

extern const struct command cmd_sync;

#define DEFAULT_ROWS 20

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
	{ .name = "limit",
	  .short_name = 'n',
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 0,
	  .max = UINT32_MAX,
	  .default_text = "20, in JSON 0",
	  .text = "Print at most N rows of each table; 0: all" },
	OPTION_END,
};

static const struct {
	const char *word, *title;
} bys[SYNC_ROWS_N_BYS] = {
	[SYNC_ROWS_BY_LOCK] = { "lock", "What" },
	[SYNC_ROWS_BY_STACK] = { "stack", "Who waits" },
	[SYNC_ROWS_BY_HOLDER] = { "holder", "Who let others wait" },
	[SYNC_ROWS_BY_THREAD] = { "thread", "Thread" },
};

static enum sync_rows_by by_of(const char *word)
{
	for (size_t i = 0; word && i < SYNC_ROWS_N_BYS; i++)
		if (strcmp(bys[i].word, word) == 0)
			return (enum sync_rows_by)i;
	return SYNC_ROWS_BY_LOCK;
}

/* Locks first; rows that are alike are in the order of their names. */
static int compare(const void *a, const void *b, void *ctx)
{
	const struct sync_rows *rows = ctx;
	const struct sync_row *x = &rows->rows.at[*(const size_t *)a];
	const struct sync_row *y = &rows->rows.at[*(const size_t *)b];

	if (x->is_lock != y->is_lock)
		return x->is_lock ? -1 : 1;
	if (x->sums.ns != y->sums.ns)
		return x->sums.ns < y->sums.ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void order(struct sync_view *v)
{
	size_t n = v->sync.rows.n;

	v->order = xcalloc(n + 1, sizeof(*v->order));
	for (size_t i = 0; i < n; i++)
		v->order[i] = i;
	qsort_r(v->order, n, sizeof(*v->order), compare, &v->sync);
}

static void view_fini(struct sync_view *v)
{
	free(v->order);
	sync_rows_fini(&v->sync);
	report_profile_close(&v->report);
}

static int open_view(struct sync_view *v, const struct options *o, struct err *e)
{
	int rc = report_profile_open(o, options_argv(o), NULL, &v->report, e);

	if (rc < 0)
		return rc;
	v->by = by_of(options_str(o, "by"));
	v->title = bys[v->by].title;
	v->has_histogram = options_has(o, "histogram");
	v->limit = (size_t)options_u64(o, "limit", v->report.json ? 0 : DEFAULT_ROWS);
	rc = sync_rows_make(v->report.profile, v->by, &v->sync, e);
	if (rc < 0)
		return rc;
	if (!v->sync.has_sync)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no waits: record with 'dwell run -e sync'",
			       v->report.paths[0]);
	order(v);
	return 0;
}

static int run(struct options *o, struct err *e)
{
	own(view_fini) struct sync_view v = { 0 };
	int rc = open_view(&v, o, e);

	if (rc < 0)
		return rc;
	if (v.report.json)
		sync_json_print(&v, stdout);
	else
		sync_text_print(&v, stdout);
	rc = report_profile_check_whole(&v.report, e);
	return rc < 0 ? rc : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
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
		"for: conditions, semaphores, barriers and the ends of threads. A lock "
		"is named by its variable, or by its address and below it who waited for "
		"it. Longest is the power of two below which the longest wait was. A "
		"wait that several holders let pass is charged to each for the time "
		"until its release.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
