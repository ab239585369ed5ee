/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/regions_view.h"
#include "cmd/report_options.h"

extern const struct command cmd_regions;

#define DEFAULT_ROWS 40

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
	{ .name = "limit",
	  .short_name = 'n',
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 0,
	  .max = UINT32_MAX,
	  .default_text = "40, in JSON 0",
	  .text = "Print at most N rows; 0: all" },
	OPTION_END,
};

static const char *const bys[REGION_ROWS_N_BYS] = {
	[REGION_ROWS_BY_REGION] = "region",
	[REGION_ROWS_BY_THREAD] = "thread",
	[REGION_ROWS_BY_TREE] = "tree",
};

static enum region_rows_by by_of(const char *word)
{
	for (size_t i = 0; word && i < REGION_ROWS_N_BYS; i++)
		if (strcmp(bys[i], word) == 0)
			return (enum region_rows_by)i;
	return REGION_ROWS_BY_REGION;
}

typedef uint64_t key_fn(const struct region_row *row);

static uint64_t exclusive_of(const struct region_row *row)
{
	return row->exclusive;
}

static uint64_t inclusive_of(const struct region_row *row)
{
	return row->inclusive;
}

static uint64_t calls_of(const struct region_row *row)
{
	return row->calls;
}

static key_fn *key_of(const char *word, enum region_rows_by by)
{
	static const struct {
		const char *word;
		key_fn *of;
	} keys[] = {
		{ "exclusive", exclusive_of },
		{ "inclusive", inclusive_of },
		{ "calls", calls_of },
	};

	for (size_t i = 0; word && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].word, word) == 0)
			return keys[i].of;
	return by == REGION_ROWS_BY_TREE ? inclusive_of : exclusive_of;
}

struct ordering {
	const struct regions_view *view;
	key_fn *key;
};

static const char *name_of(const struct regions_view *v, const struct region_row *row)
{
	return row->thread ? row->thread
			   : profile_function(v->report.profile, row->function)->name;
}

/* A thread's own row has its inclusive time. */
static uint64_t value_of(const struct ordering *o, const struct region_row *row)
{
	return row->thread && o->key == exclusive_of ? row->inclusive : o->key(row);
}

static int compare_siblings(const struct ordering *o, const struct region_row *x,
			    const struct region_row *y)
{
	uint64_t m = value_of(o, x), n = value_of(o, y);

	return m != n ? (m < n) - (m > n)
		      : strcmp(name_of(o->view, x), name_of(o->view, y));
}

/* The first rows on the ways from the top to the two that differ decide. */
static int compare(const void *a, const void *b, void *ctx)
{
	const struct ordering *o = ctx;
	const struct region_row *rows = o->view->rows.rows.at;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	int deeper = (rows[i].depth > rows[k].depth) - (rows[i].depth < rows[k].depth);

	while (rows[i].depth > rows[k].depth)
		i = rows[i].parent;
	while (rows[k].depth > rows[i].depth)
		k = rows[k].parent;
	if (i == k)
		return deeper;
	while (rows[i].parent != rows[k].parent) {
		i = rows[i].parent;
		k = rows[k].parent;
	}
	return compare_siblings(o, &rows[i], &rows[k]);
}

static void order(struct regions_view *v, const char *word, size_t limit)
{
	struct ordering o = { .view = v, .key = key_of(word, v->by) };
	size_t n = v->rows.rows.n;

	v->order = xcalloc(n + 1, sizeof(*v->order));
	for (size_t i = 0; i < n; i++)
		v->order[i] = i;
	qsort_r(v->order, n, sizeof(*v->order), compare, &o);
	v->n_shown = limit && limit < n ? limit : n;
}

static void view_fini(struct regions_view *v)
{
	free(v->order);
	region_rows_fini(&v->rows);
	region_history_fini(&v->history);
	report_profile_close(&v->report);
}

static int load(struct regions_view *v, const struct options *o, struct err *e)
{
	size_t limit = (size_t)options_u64(o, "limit", v->report.json ? 0 : DEFAULT_ROWS);
	int rc = region_rows_make(v->report.profile, v->by, &v->rows, e);

	if (rc < 0)
		return rc;
	if (!v->rows.has_regions)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no regions: record with 'dwell run -e regions'",
			       v->report.paths[0]);
	order(v, options_str(o, "sort"), limit);
	if (!v->has_history)
		return 0;
	rc = region_history_load(&v->history, v->report.profile, e);
	if (rc == 0 && !v->history.rows.n)
		rc = err_set(e, ERR_UNSUPPORTED,
			     "%s has no history: record with --callstack-every or "
			     "--callstack-signal",
			     v->report.paths[0]);
	v->n_shown = limit && limit < v->history.rows.n ? limit : v->history.rows.n;
	return rc;
}

static int run(struct options *o, struct err *e)
{
	own(view_fini) struct regions_view v = { 0 };
	int rc = report_profile_open(o, options_argv(o), NULL, &v.report, e);

	if (rc < 0)
		return rc;
	v.by = by_of(options_str(o, "by"));
	v.has_history = options_has(o, "history");
	rc = load(&v, o, e);
	if (rc < 0)
		return rc;
	if (v.report.json)
		regions_json_print(&v, stdout);
	else
		regions_text_print(&v, stdout);
	rc = report_profile_check_whole(&v.report, e);
	return rc < 0 ? rc : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
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
