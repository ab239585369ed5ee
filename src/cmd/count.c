/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "collect/counter_text.h"
#include "collect/counting.h"

extern const struct command cmd_count;

static const struct option_spec count_options[] = {
	{ .name = "event",
	  .short_name = 'e',
	  .kind = OPTION_LIST,
	  .arg = "NAME",
	  .default_text = "the usual ones",
	  .text = "What to count; 'dwell list' shows all" },
	{ .name = "repeat",
	  .short_name = 'r',
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 1,
	  .max = 10000,
	  .default_text = "1",
	  .text = "Run the command N times; print mean and spread" },
	{ .name = "interval",
	  .short_name = 'I',
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .min = 1000000,
	  .unit = "ms",
	  .text = "Print what was counted at every interval too" },
	{ .name = "output",
	  .short_name = 'o',
	  .kind = OPTION_STRING,
	  .arg = "FILE",
	  .default_text = "standard error",
	  .text = "Where to print the counts" },
	OPTION_END,
};

struct count {
	const struct counter *counters[COUNTING_MAX];
	size_t n;
	struct counting_run *runs;
	size_t n_runs;
	FILE *out;
};

static int take_events(const struct options *o, struct count *c, struct err *e)
{
	size_t n = options_count(o, "event");

	for (const struct counter *k = counters; !n && k->name; k++)
		if (k->in_default)
			c->counters[c->n++] = k;
	for (size_t i = 0; i < n; i++) {
		if (c->n == COUNTING_MAX)
			return err_set(e, ERR_USAGE, "at most %d events", COUNTING_MAX);
		c->counters[c->n] = counter_text_find(options_at(o, "event", i), e);
		if (!c->counters[c->n++])
			return ERR_USAGE;
	}
	return 0;
}

static void print_interval(void *ctx, uint64_t time_ns, const struct counting_value *v)
{
	struct count *c = ctx;

	for (size_t i = 0; i < c->n; i++) {
		char text[TEXT_MAX];

		if (!v[i].is_counted)
			continue;
		fprintf(c->out, "%12.3f s  %16s  %s\n", (double)time_ns / 1e9,
			text_value(text, v[i].value, c->counters[i]->unit),
			c->counters[i]->name);
	}
}

struct spread {
	double mean, relative; /* standard error of the mean, as a share of it */
};

static struct spread spread_of(const double *values, size_t n)
{
	struct spread s = { 0 };
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	s.mean = n ? sum / (double)n : 0;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - s.mean) * (values[i] - s.mean);
	if (n > 1 && s.mean > 0)
		s.relative = sqrt(squares / (double)(n - 1) / (double)n) / s.mean;
	return s;
}

static struct spread spread_of_counter(const struct count *c, size_t i, bool *is_counted)
{
	own(freep) double *values = xcalloc(c->n_runs, sizeof(*values));
	size_t n = 0;

	for (size_t r = 0; r < c->n_runs; r++)
		if (c->runs[r].values[i].is_counted)
			values[n++] = (double)c->runs[r].values[i].value;
	*is_counted = n > 0;
	return spread_of(values, n);
}

static uint64_t whole(double v)
{
	return v > 0 ? (uint64_t)(v + 0.5) : 0;
}

/* "2 a run of 1.2 s" as a rate, where it says more than the count. */
static void rate_cell(struct table *t, const struct counter *k, double value, double wall)
{
	char rate[TEXT_MAX];

	if (wall <= 0 || value <= 0)
		table_cell(t, "");
	else if (!strcmp(k->unit, "ns"))
		table_cellf(t, "%.3f CPUs used", value / wall);
	else if (value / wall * 1e9 >= 100)
		table_cellf(t, "%s /s", text_count(rate, whole(value / wall * 1e9)));
	else
		table_cellf(t, "%.1f /s", value / wall * 1e9);
}

static void counter_row(const struct count *c, size_t i, double wall, struct table *t)
{
	const struct counter *k = c->counters[i];
	const struct counting_value *v = &c->runs[0].values[i];
	struct err why = { 0 };
	char text[TEXT_MAX];
	bool is_counted;
	struct spread s = spread_of_counter(c, i, &is_counted);

	table_row(t);
	if (!is_counted) {
		table_cell(t, "–");
		table_cell(t, k->name);
		if (c->n_runs > 1)
			table_cell(t, "");
		table_cell(t, counter_probe(k, &why) < 0 ? why.text : "not counted");
		return;
	}
	table_cell(t, text_value(text, whole(s.mean), k->unit));
	table_cell(t, k->name);
	if (c->n_runs > 1)
		table_cellf(t, "± %.2f %%", 100 * s.relative);
	if (v->on_share < 1)
		table_cellf(t, "counted %.0f %% of the time, scaled", 100 * v->on_share);
	else
		rate_cell(t, k, s.mean, wall);
}

static void time_row(const struct count *c, struct table *t, const char *name,
		     const double *values)
{
	struct spread s = spread_of(values, c->n_runs);
	char text[TEXT_MAX];

	table_row(t);
	table_cell(t, text_duration(text, whole(s.mean)));
	table_cell(t, name);
	if (c->n_runs > 1)
		table_cellf(t, "± %.2f %%", 100 * s.relative);
}

/* Clocks run on in the kernel; of the rest its part is missing. */
static void print_limits(const struct count *c)
{
	bool has_both = false;

	for (size_t i = 0; i < c->n; i++)
		has_both |= c->runs[0].values[i].is_counted &&
			    strcmp(c->counters[i]->unit, "ns") != 0;
	if (has_both && counter_is_user_only())
		fputs("Only what happened outside the kernel is counted: the rest needs "
		      "root or\nkernel.perf_event_paranoid=1.\n",
		      c->out);
}

static void print_counts(const struct count *c)
{
	static const struct table_column once[] = {
		{ .title = "Count", .align = TABLE_RIGHT, .min_width = 14 },
		{ .title = "Event" },
		{ .title = "", .is_elastic = true },
	}, repeated[] = {
		{ .title = "Count", .align = TABLE_RIGHT, .min_width = 8 },
		{ .title = "Event" },
		{ .title = "Spread", .align = TABLE_RIGHT },
		{ .title = "", .is_elastic = true },
	};
	struct table_style style = { .width = command_terminal()->width };
	own(table_freep) struct table *t =
		c->n_runs > 1 ? table_new(repeated, 4) : table_new(once, 3);
	own(freep) double *times = xcalloc(3 * c->n_runs, sizeof(*times));

	for (size_t r = 0; r < c->n_runs; r++) {
		times[r] = (double)c->runs[r].wall_ns;
		times[c->n_runs + r] = (double)c->runs[r].user_ns;
		times[2 * c->n_runs + r] = (double)c->runs[r].system_ns;
	}

	double wall = spread_of(times, c->n_runs).mean;

	for (size_t i = 0; i < c->n; i++)
		counter_row(c, i, wall, t);
	table_rule(t);
	time_row(c, t, "elapsed", times);
	time_row(c, t, "user", times + c->n_runs);
	time_row(c, t, "system", times + 2 * c->n_runs);
	table_print(t, &style, c->out);
	if (c->n_runs > 1)
		fprintf(c->out, "Means of %zu runs; spread is the standard error.\n",
			c->n_runs);
	print_limits(c);
}

static int exit_code(const struct counting_run *r)
{
	return WIFSIGNALED(r->status) ? 128 + WTERMSIG(r->status)
				      : WEXITSTATUS(r->status);
}

static int run_all(struct count *c, const struct options *o, struct err *e)
{
	struct counting_settings settings = {
		.argv = options_argv(o),
		.counters = c->counters,
		.n_counters = c->n,
		.interval_ns = options_u64(o, "interval", 0),
		.on_interval = print_interval,
		.ctx = c,
	};

	for (size_t i = 0; i < c->n_runs; i++) {
		struct counting_run *r = &c->runs[i];
		int rc = counting_run(&settings, r, e);

		if (rc < 0 && r->is_exec_failure) {
			fprintf(stderr, "dwell count: %s\n", e->text);
			return r->exec_errno == ENOENT ? 127 : 126;
		}
		if (rc < 0)
			return rc;
	}
	print_counts(c);
	return exit_code(&c->runs[c->n_runs - 1]);
}

static int run_count(struct options *o, struct err *e)
{
	struct count c = { .n_runs = options_u64(o, "repeat", 1), .out = stderr };
	const char *path = options_str(o, "output");
	own(fclosep) FILE *file = NULL;
	int rc = take_events(o, &c, e);

	if (rc < 0)
		return rc;
	if (!options_argc(o))
		return err_set(e, ERR_USAGE,
			       "no command to run; for example: dwell count -- ls -l");
	if (path) {
		file = fopen(path, "we");
		if (!file)
			return err_os(e, "cannot create '%s'", path);
		c.out = file;
	}
	c.runs = xcalloc(c.n_runs, sizeof(*c.runs));
	rc = run_all(&c, o, e);
	free(c.runs);
	return rc;
}

const struct command cmd_count = {
	.name = "count",
	.usage = "[options] -- COMMAND [ARGUMENT]…",
	.summary = "Count events of a program, without a profile",
	.description =
		"Runs COMMAND and prints totals of events, its descendants included. A "
		"counter that this machine or this user cannot have is named with the "
		"reason. Counters that had to share the CPU's registers are scaled, and "
		"the share of time they were on is printed.",
	.options = (const struct option_spec *const[]){ count_options, NULL },
	.examples =
		(const struct command_example[]){
			{ "dwell count -- make", "the usual counters" },
			{ "dwell count -r 5 -e page-faults,task-clock -- ./program",
			  "five runs, with spread" },
			{ "dwell count -I 100ms -- ./program", "ten times a second" },
			{ NULL, NULL } },
	.stop_early = true,
	.group = "record",
	.run = run_count,
};
