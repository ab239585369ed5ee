/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analyze/global_rows.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "cmd/report_profile.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "store/gauge.h"

extern const struct command cmd_global;

#define DEFAULT_ROWS 40

static const struct option_spec own_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = "interval|process",
	  .default_text = "interval",
	  .text = "What the rows are: intervals, or the processes of each, by the CPU "
		  "time that they used themselves" },
	REPORT_OPTIONS_LIMIT(DEFAULT_ROWS, "Print at most the first N rows"),
	OPTION_END,
};

/* One recording's. */
struct global_view {
	const struct report *report;
	size_t source;
	bool is_by_process;
	struct global_rows rows;
	size_t n_shown;
};

static const struct recording *recording_of(const struct global_view *v)
{
	return profile_source(v->report->profile, v->source);
}

static const struct model_interval *interval_of(const struct global_view *v,
						const struct global_row *row)
{
	return recording_interval(recording_of(v), row->interval);
}

/* Time 0: the first interval begins before the program does. */
static uint64_t start_of(const struct global_view *v)
{
	uint64_t start_ns = profile_start_ns(v->report->profile, v->source);
	uint64_t first_ns = v->rows.rows.n ? v->rows.rows.at[0].from_ns : start_ns;

	return first_ns < start_ns ? first_ns : start_ns;
}

/* As text. */

static char *load_text(char *s, uint64_t hundredths)
{
	snprintf(s, TEXT_MAX, "%.2f", (double)hundredths / 100);
	return s;
}

/* The first one is CPU time, of more gauges than that. */
static const struct value_column {
	const char *title;
	enum gauge_what what;
	char *(*text)(char *s, uint64_t n);
} value_columns[] = {
	{ "CPU", GAUGE_USER_NS, text_duration },
	{ "Ready", GAUGE_READY_NS, text_duration },
	{ "Read", GAUGE_READ_BYTES, text_size },
	{ "Written", GAUGE_WRITTEN_BYTES, text_size },
	{ "Resident", GAUGE_RESIDENT_BYTES, text_size },
	{ "Load", GAUGE_LOAD_HUNDREDTHS, load_text },
};

#define N_VALUE_COLUMNS (sizeof(value_columns) / sizeof(value_columns[0]))

/* The last one is the machine's. */
static size_t n_values(const struct global_view *v)
{
	return v->is_by_process ? N_VALUE_COLUMNS - 1 : N_VALUE_COLUMNS;
}

static void put_value(struct table *t, const struct value_column *c,
		      const struct global_row *row)
{
	uint64_t n = c == &value_columns[0] ? global_rows_cpu_ns(row)
					    : row->values.of[c->what];
	char s[TEXT_MAX];

	table_cell(t, row->values.has[c->what] ? c->text(s, n) : "–");
}

/* What pid ran at the end of the interval; NULL: it is not told. */
static const char *process_name(const struct global_view *v, const struct global_row *row)
{
	const struct recording *r = recording_of(v);
	const struct model_process *best = NULL;

	for (uint32_t i = 0; i < recording_n_processes(r); i++) {
		const struct model_process *p = recording_process(r, i);

		if (p->pid == row->pid && p->start_ns <= row->to_ns &&
		    (!best || best->start_ns <= p->start_ns))
			best = p;
	}
	return best ? recording_string(r, best->comm) : NULL;
}

static void put_process(struct table *t, const struct global_view *v,
			const struct global_row *row)
{
	const char *name = process_name(v, row);

	table_cellf(t, "%s%s(%u)", name ? name : "", name ? " " : "", row->pid);
}

static void put_cause(struct table *t, const struct global_view *v,
		      const struct global_row *row)
{
	const struct model_interval *interval = interval_of(v, row);
	const char *cause = recording_string(recording_of(v), interval->cause);
	const char *name = recording_string(recording_of(v), interval->name);

	table_cellf(t, "%s%s%s", cause, *cause && *name ? " " : "", name);
	table_continue(t, "");
}

static void put_row(struct table *t, const struct global_view *v,
		    const struct global_row *row)
{
	uint64_t start_ns = start_of(v);
	char s[TEXT_MAX];

	table_row(t);
	table_cellf(t, "%u", row->interval + 1);
	table_cell(t, text_duration(s, row->from_ns > start_ns ? row->from_ns - start_ns
							       : 0));
	table_cell(t, text_duration(s, row->to_ns - row->from_ns));
	for (size_t i = 0; i < n_values(v); i++)
		put_value(t, &value_columns[i], row);
	if (v->is_by_process)
		put_process(t, v, row);
	else
		put_cause(t, v, row);
}

static void print_rows(const struct global_view *v, FILE *out)
{
	struct table_column columns[4 + N_VALUE_COLUMNS] = {
		{ .title = "#", .align = TABLE_RIGHT },
		{ .title = "From", .align = TABLE_RIGHT },
		{ .title = "Length", .align = TABLE_RIGHT },
	};
	size_t n = n_values(v);
	struct table_style style = { .width = v->report->width,
				     .colour = command_terminal()->colour };

	for (size_t i = 0; i < n; i++)
		columns[3 + i] = (struct table_column){ .title = value_columns[i].title,
							.align = TABLE_RIGHT };
	columns[3 + n] = (struct table_column){
		.title = v->is_by_process ? "Process" : "Ended by",
		.is_elastic = true,
		.min_width = 8,
	};

	own(table_freep) struct table *t = table_new(columns, 4 + n);

	for (size_t i = 0; i < v->n_shown; i++)
		put_row(t, v, &v->rows.rows.at[i]);
	table_print(t, &style, out);
	report_text_more(v->rows.rows.n - v->n_shown, out);
}

/* As JSON. */

static void put_json_row(struct json *j, const struct global_view *v,
			 const struct global_row *row)
{
	const struct model_interval *interval = interval_of(v, row);
	uint64_t start_ns = start_of(v);

	json_object(j);
	json_key_u64(j, "source", v->source);
	json_key_u64(j, "interval", row->interval + 1);
	json_key_u64(j, "from_ns", row->from_ns > start_ns ? row->from_ns - start_ns : 0);
	json_key_u64(j, "to_ns", row->to_ns > start_ns ? row->to_ns - start_ns : 0);
	json_key_str(j, "name", recording_string(recording_of(v), interval->name));
	json_key_str(j, "cause", recording_string(recording_of(v), interval->cause));
	if (row->pid) {
		json_key_u64(j, "pid", row->pid);
		json_key_str(j, "process", process_name(v, row));
	}
	json_key_u64(j, "cpu_ns", global_rows_cpu_ns(row));
	json_key(j, "gauges");
	json_object(j);
	for (unsigned i = 0; i < GAUGE_N_WHATS; i++)
		if (row->values.has[i])
			json_key_u64(j, gauge_names[i], row->values.of[i]);
	json_object_end(j);
	json_object_end(j);
}

static void print_json(const struct global_view *views, size_t n, FILE *out)
{
	struct json j;

	report_json_begin(&j, views[0].report, "global", out);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < views[i].n_shown; k++)
			put_json_row(&j, &views[i], &views[i].rows.rows.at[k]);
	report_json_end(&j, views[0].report);
}

/* Running. */

static int load(struct global_view *v, const struct report *r, size_t source,
		const struct options *o, struct err *e)
{
	const char *by = options_str(o, "by");
	int rc;

	*v = (struct global_view){ .report = r, .source = source };
	v->is_by_process = by && strcmp(by, "process") == 0;
	if (v->is_by_process)
		rc = global_rows_load_processes(&v->rows, recording_of(v), e);
	else
		rc = global_rows_load(&v->rows, recording_of(v), e);
	if (rc == 0 && !v->rows.has_gauges)
		rc = err_set(e, ERR_UNSUPPORTED,
			     "%s has no global data: 'dwell run' and 'dwell attach' "
			     "record it",
			     r->paths[source]);
	v->n_shown = report_options_shown(report_options_limit(o, DEFAULT_ROWS),
					  v->rows.rows.n);
	return rc;
}

static void print_text(const struct global_view *views, size_t n, FILE *out)
{
	report_head_subjects(views[0].report, out);
	for (size_t i = 0; i < n; i++) {
		if (n > 1)
			fprintf(out, "%s%s\n", i ? "\n" : "", views[i].report->paths[i]);
		print_rows(&views[i], out);
	}
	report_quality_print_gaps(views[0].report, out);
}

static int run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	int rc = report_profile_open(o, options_argv(o), NULL, &r, e);
	size_t n = rc == 0 ? profile_n_sources(r.profile) : 0;
	own(freep) struct global_view *views = xcalloc(n + 1, sizeof(*views));

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = load(&views[i], &r, i, o, e);
	if (rc == 0 && r.json)
		print_json(views, n, stdout);
	else if (rc == 0)
		print_text(views, n, stdout);
	for (size_t i = 0; i < n; i++)
		global_rows_fini(&views[i].rows);
	return rc < 0 ? rc : report_profile_check_whole(&r, e);
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell global", "of the newest recording: what happened in each second" },
	{ "dwell global --by process", "who did it, in each" },
	{ "dwell run -S 100ms -- ./server",
	  "record an interval every tenth of a second" },
	{ "dwell report --filter 'interval == 3'", "what was executed in the third" },
	{ NULL, NULL },
};

const struct command cmd_global = {
	.name = "global",
	.usage = "[options] [RECORDING…]",
	.summary = "Show what the system counted in each interval of a recording",
	.description =
		"Every recording of programs and processes is cut into intervals: by a "
		"timer (-S of dwell run), by a signal (--mark), by dwell ctl mark, by "
		"the program itself, and by its end. Of each there is what the system "
		"counted of the observed processes together, "
		"children included: CPU time, the time that they were ready to run and "
		"had no CPU, bytes that were read and written by calls; and, at its end, "
		"how much of them was in memory and the load of the machine. --json has "
		"faults, devices, threads, turns on a CPU, and the machine's CPUs and "
		"memory, too. --filter does not change it.\n\n"
		"Other reports take an interval by --filter 'interval == N' or 'mark == "
		"NAME', and have a row for each by --by interval.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
