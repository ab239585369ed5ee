/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/regions_view.h"
#include "cmd/report_head.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"

#define NAME_MAX_BYTES 512

static void cell(const struct regions_view *v, struct table *t, uint64_t n, bool is_time)
{
	char s[TEXT_MAX];

	table_cell(t, !n	? "–"
		      : is_time ? text_value(s, n, v->rows.unit)
				: text_count(s, n));
}

static void put_row(const struct regions_view *v, struct table *t,
		    const struct region_row *row)
{
	own(buf_fini) struct buf name = { 0 };
	char text[NAME_MAX_BYTES], s[TEXT_MAX];

	table_row(t);
	cell(v, t, row->is_counter ? row->counted : row->calls, false);
	cell(v, t, row->subroutines, false);
	cell(v, t, row->exclusive, true);
	table_cell(t, row->exclusive ? text_pct(s, (double)row->exclusive,
						(double)v->rows.total.exclusive)
				     : "–");
	cell(v, t, row->inclusive, true);
	cell(v, t, row->calls && !row->thread ? row->inclusive / row->calls : 0, true);
	for (uint32_t i = 0; i < row->depth; i++)
		buf_puts(&name, "  ");
	if (row->thread) {
		report_text_safe(&name, row->thread);
	} else {
		region_rows_name(v->report.profile, row->function, text, sizeof(text));
		report_text_safe(&name, text);
	}
	if (row->is_counter)
		buf_puts(&name, " (counter)");
	table_cell(t, buf_str(&name));
}

static void print_more(size_t n, FILE *out)
{
	char left[TEXT_MAX];

	if (n)
		fprintf(out, "… %s more (--limit 0 shows all)\n", text_count(left, n));
}

static void print_table(const struct regions_view *v, struct table *t, FILE *out)
{
	struct table_style style = { .width = v->report.width,
				     .colour = command_terminal()->colour };

	table_print(t, &style, out);
}

static void print_rows(const struct regions_view *v, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "Calls", .align = TABLE_RIGHT },
		{ .title = "Subroutines", .align = TABLE_RIGHT },
		{ .title = "Exclusive", .align = TABLE_RIGHT },
		{ .title = "%", .align = TABLE_RIGHT },
		{ .title = "Inclusive", .align = TABLE_RIGHT },
		{ .title = "Per call", .align = TABLE_RIGHT },
		{ .title = "Region", .is_elastic = true },
	};
	own(table_freep) struct table *t =
		table_new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < v->n_shown; i++)
		put_row(v, t, &v->rows.rows.at[v->order[i]]);
	print_table(v, t, out);
	print_more(v->rows.rows.n - v->n_shown, out);
}

/* When, and of which thread, before the outermost of a callstack. */
static void put_moment(const struct regions_view *v, struct table *t,
		       const struct region_slice_row *row,
		       const struct region_slice_row *before)
{
	const struct recording *r = profile_source(v->report.profile, row->source);
	char s[TEXT_MAX], text[NAME_MAX_BYTES];
	bool is_same = before && before->source == row->source &&
		       before->time_ns == row->time_ns && before->thread == row->thread;

	snprintf(text, sizeof(text), "%s (%u)", recording_string(r, row->thread->name),
		 row->thread->tid);
	table_cell(t, is_same ? "" : text_duration(s, row->time_ns));
	table_cell(t, is_same ? "" : text);
}

static void put_slice(const struct regions_view *v, struct table *t,
		      const struct region_slice_row *row)
{
	own(buf_fini) struct buf name = { 0 };
	char text[NAME_MAX_BYTES];

	for (int i = 0; i < REGION_HISTORY_N_VALUES; i++)
		cell(v, t, row->values[i], i >= REGION_HISTORY_EXCLUSIVE);
	for (uint32_t i = 0; i < row->depth; i++)
		buf_puts(&name, "  ");
	region_rows_name(v->report.profile, row->function, text, sizeof(text));
	report_text_safe(&name, text);
	table_cell(t, buf_str(&name));
}

static void print_history(const struct regions_view *v, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "After", .align = TABLE_RIGHT },
		{ .title = "Thread" },
		{ .title = "Calls", .align = TABLE_RIGHT },
		{ .title = "Subroutines", .align = TABLE_RIGHT },
		{ .title = "Exclusive", .align = TABLE_RIGHT },
		{ .title = "Inclusive", .align = TABLE_RIGHT },
		{ .title = "Instance\nexclusive", .align = TABLE_RIGHT },
		{ .title = "Instance\ninclusive", .align = TABLE_RIGHT },
		{ .title = "Region", .is_elastic = true },
	};
	own(table_freep) struct table *t =
		table_new(columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < v->n_shown; i++) {
		const struct region_slice_row *row = &v->history.rows.at[i];

		table_row(t);
		put_moment(v, t, row, i ? row - 1 : NULL);
		put_slice(v, t, row);
	}
	print_table(v, t, out);
	print_more(v->history.rows.n - v->n_shown, out);
}

void regions_text_print(const struct regions_view *v, FILE *out)
{
	report_head_print(&v->report, out);
	if (!v->rows.rows.n)
		report_text_nothing(&v->report, out);
	else if (v->has_history)
		print_history(v, out);
	else
		print_rows(v, out);
	report_quality_print_gaps(&v->report, out);
}
