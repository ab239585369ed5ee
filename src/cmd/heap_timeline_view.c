/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/heap_timeline_view.h"

#include "analyze/global_rows.h"
#include "analyze/heap_timeline.h"
#include "base/buf.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_text.h"

/* Columns of numbers are as wide as this at most, mostly; bars have the rest. */
#define NUMBERS_WIDTH 54
#define BAR_MIN	      8
#define PEAK	      " ◂ peak"
#define PEAK_WIDTH    7
/* Marks of one line: of more it is told how many there are. */
#define MARKS_MAX 4

static unsigned bar_width(const struct heap_view *v)
{
	unsigned width = v->report->width, rest = NUMBERS_WIDTH + PEAK_WIDTH + BAR_MIN;

	return width > rest ? width - NUMBERS_WIDTH - PEAK_WIDTH : BAR_MIN;
}

static unsigned bar_of(uint64_t bytes, uint64_t most, unsigned width)
{
	return most ? (unsigned)((double)bytes / (double)most * width + 0.5) : 0;
}

static void put_bar(struct table *t, const struct heap_timeline *timeline,
		    const struct heap_timeline_line *line, unsigned width)
{
	unsigned held = bar_of(line->bytes, timeline->most_bytes, width);
	unsigned most = bar_of(line->most_bytes, timeline->most_bytes, width);
	own(buf_fini) struct buf bar = { 0 };

	for (unsigned i = 0; i < most; i++)
		buf_puts(&bar, i < held ? "█" : "░");
	if (line->is_peak)
		buf_puts(&bar, PEAK);
	table_cell(t, buf_str(&bar));
}

/* A mark at the very end of a line is the line's. */
static void put_marks(struct table *t, const struct heap_timeline *timeline,
		      const struct heap_timeline_line *line)
{
	own(buf_fini) struct buf note = { 0 };
	size_t n = 0;
	char s[TEXT_MAX];

	vec_each(mark, &timeline->marks) {
		bool is_within = mark->time_ns <= line->to_ns &&
				 (mark->time_ns > line->from_ns || !line->from_ns);

		if (!is_within || n++ >= MARKS_MAX)
			continue;
		buf_puts(&note, n == 1 ? "▲ " : ", ");
		report_text_safe(&note, mark->name);
		buf_printf(&note, " (%s)", text_duration(s, mark->time_ns));
	}
	if (n > MARKS_MAX)
		buf_printf(&note, " and %zu more", n - MARKS_MAX);
	if (n)
		table_note(t, 1, buf_str(&note));
}

static void put_line(struct table *t, const struct heap_timeline *timeline,
		     const struct heap_timeline_line *line, unsigned width)
{
	char s[TEXT_MAX];

	table_row(t);
	if (line->is_peak)
		table_strong(t);
	table_cell(t, text_duration(s, line->from_ns));
	table_cell(t, text_size(s, line->most_bytes));
	table_cell(t, text_count(s, line->blocks));
	table_cell(t, text_count(s, line->allocations));
	if (timeline->has_resident)
		table_cell(t,
			   line->has_resident ? text_size(s, line->resident_bytes) : "–");
	put_bar(t, timeline, line, width);
	put_marks(t, timeline, line);
}

static void print_lines(const struct heap_view *v, const struct heap_timeline *timeline,
			FILE *out)
{
	struct table_column columns[6] = {
		{ .title = "From", .align = TABLE_RIGHT },
		{ .title = "Held\nat most", .align = TABLE_RIGHT },
		{ .title = "Blocks\nat its end", .align = TABLE_RIGHT },
		{ .title = "Allocations\nwithin", .align = TABLE_RIGHT },
		{ .title = "In RAM", .align = TABLE_RIGHT },
	};
	unsigned n = timeline->has_resident ? 5 : 4;
	struct table_style style = { .width = v->report->width,
				     .colour = command_terminal()->colour };

	columns[n++] = (struct table_column){ .title = "█ held at its end\n░ at most" };

	own(table_freep) struct table *t = table_new(columns, n);

	vec_each(line, &timeline->lines)
		put_line(t, timeline, line, bar_width(v));
	table_print(t, &style, out);
}

int heap_timeline_view_print(const struct heap_view *v, size_t source, FILE *out,
			     struct err *e)
{
	own(heap_timeline_fini) struct heap_timeline timeline = { 0 };
	const struct recording *r = profile_source(v->report->profile, source);
	int rc = heap_timeline_load(&timeline, v->report->profile, source,
				    &v->rows[source], v->limit, e);
	const struct model_process *process;
	own(buf_fini) struct buf title = { 0 };
	char s[TEXT_MAX];

	if (rc < 0)
		return rc;
	if (timeline.process == MODEL_NONE) {
		fprintf(out, ": %s\n", v->table->nothing);
		return 0;
	}
	process = recording_process(r, timeline.process);
	report_text_safe(&title, recording_string(r, process->comm));
	fprintf(out, ", of %s (%u), in lines of %s\n\n", buf_str(&title), process->pid,
		text_duration(s, timeline.lines.at[0].to_ns));
	print_lines(v, &timeline, out);
	return 0;
}

/* As JSON. */

static void json_marks(struct json *j, const struct recording *r, size_t source)
{
	for (uint32_t i = 0; i < recording_n_intervals(r); i++) {
		const struct model_interval *interval = recording_interval(r, i);
		const char *name = recording_string(r, interval->name);

		if (!heap_timeline_is_mark(r, interval))
			continue;
		json_object(j);
		json_key_u64(j, "source", source);
		json_key_u64(j, "time_ns", interval->to_ns);
		json_key_u64(j, "interval", i + 1);
		json_key_str(j, "mark", *name ? name : NULL);
		json_key_str(j, "cause", recording_string(r, interval->cause));
		json_object_end(j);
	}
}

static int json_resident(struct json *j, const struct recording *r, size_t source,
			 struct err *e)
{
	own(global_rows_fini) struct global_rows g = { 0 };
	int rc = global_rows_load_processes(&g, r, e);

	vec_each(row, &g.rows) {
		if (!row->values.of[GAUGE_RESIDENT_BYTES])
			continue;
		json_object(j);
		json_key_u64(j, "source", source);
		json_key_u64(j, "pid", row->pid);
		json_key_u64(j, "time_ns", row->to_ns);
		json_key_u64(j, "resident", row->values.of[GAUGE_RESIDENT_BYTES]);
		json_object_end(j);
	}
	return rc;
}

int heap_timeline_view_json(const struct heap_view *v, struct json *j, struct err *e)
{
	const struct profile *p = v->report->profile;
	int rc = 0;

	json_key(j, "marks");
	json_array(j);
	for (size_t i = 0; i < profile_n_sources(p); i++)
		json_marks(j, profile_source(p, i), i);
	json_array_end(j);
	json_key(j, "resident");
	json_array(j);
	for (size_t i = 0; i < profile_n_sources(p) && rc == 0; i++)
		rc = json_resident(j, profile_source(p, i), i, e);
	return rc;
}
