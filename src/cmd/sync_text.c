/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/buf.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/sync_view.h"

#define PATH_FRAMES 4 /* of a stack below a row; the innermost */
#define NOTE_COLUMN 4
#define BAR_WIDTH   40

static void put_sums(struct table *t, const struct sync_sums *s)
{
	unsigned end = sync_rows_end(s);
	char text[TEXT_MAX];

	table_cell(t, text_duration(text, s->ns));
	table_cell(t, end ? text_duration(text, sync_rows_least(end)) : "–");
	table_cell(t, text_count(text, s->n));
	table_cell(t, text_duration(text, s->n ? s->ns / s->n : 0));
}

/* "waits in f ← g ← h" */
static void put_path(struct buf *b, const struct sync_view *v, const char *words,
		     const struct sync_path *path, size_t from)
{
	buf_printf(b, "%s%s", b->size ? "; " : "", words);
	for (size_t i = from; i < path->n_frames && i < PATH_FRAMES + from; i++) {
		buf_puts(b, i > 0 ? (i > from ? " ← " : "← ") : " ");
		report_text_safe(
			b, profile_function(v->report.profile, path->frames[i])->name);
	}
	if (path->n_frames > PATH_FRAMES + from)
		buf_puts(b, " ← …");
	if (!path->n_frames)
		buf_puts(b, " [no stack]");
}

/* The name of a row is the first frame of its own stack. */
static void put_paths(struct table *t, const struct sync_view *v,
		      const struct sync_row *row)
{
	bool is_stack = v->by == SYNC_ROWS_BY_STACK;
	bool is_holder = v->by == SYNC_ROWS_BY_HOLDER;
	own(buf_fini) struct buf b = { 0 };

	if (is_stack && row->waiters.n && row->waiters.at[0].n_frames > 1)
		put_path(&b, v, "", &row->waiters.at[0], 1);
	if (is_holder && row->holders.n && row->holders.at[0].n_frames > 1)
		put_path(&b, v, "", &row->holders.at[0], 1);
	if (row->waiters.n && !is_stack)
		put_path(&b, v, "waits in", &row->waiters.at[0], 0);
	if (row->holders.n && !is_holder)
		put_path(&b, v, row->is_lock ? "held by" : "woken by",
			 &row->holders.at[0], 0);
	if (b.size)
		table_note(t, NOTE_COLUMN, buf_str(&b));
}

static void put_row(struct table *t, const struct sync_view *v,
		    const struct sync_row *row)
{
	table_row(t);
	put_sums(t, &row->sums);
	table_cell(t, row->what);
	table_cell(t, row->name);
	put_paths(t, v, row);
}

static void print_table(const struct sync_view *v, bool is_lock, FILE *out)
{
	const struct table_column columns[] = {
		{ .title = "Time", .align = TABLE_RIGHT },
		{ .title = "Longest\n<", .align = TABLE_RIGHT },
		{ .title = "Waits", .align = TABLE_RIGHT },
		{ .title = "Average", .align = TABLE_RIGHT },
		{ .title = "Kind" },
		{ .title = v->title, .is_elastic = true },
	};
	own(table_freep) struct table *t =
		table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct table_style style = { .width = v->report.width,
				     .colour = command_terminal()->colour };
	size_t n = 0;

	table_row(t);
	put_sums(t, is_lock ? &v->sync.locks : &v->sync.others);
	table_cell(t, "");
	table_cell(t, "<total>");
	for (size_t i = 0; i < v->sync.rows.n; i++) {
		const struct sync_row *row = &v->sync.rows.at[v->order[i]];

		if (row->is_lock == is_lock && (++n <= v->limit || !v->limit))
			put_row(t, v, row);
	}
	table_print(t, &style, out);
	if (v->limit && n > v->limit) {
		char left[TEXT_MAX];

		fprintf(out, "… %s more (--limit 0 shows all)\n",
			text_count(left, n - v->limit));
	}
}

static void print_steps(const struct sync_sums *s, FILE *out)
{
	uint64_t most = 1;
	unsigned first = SYNC_ROWS_STEPS, end = sync_rows_end(s);

	for (unsigned i = 0; i < end; i++) {
		most = s->steps[i] > most ? s->steps[i] : most;
		if (s->steps[i] && first == SYNC_ROWS_STEPS)
			first = i;
	}
	fputs("\nTime that a wait took, from each up to the next:\n", out);
	for (unsigned i = first; i < end; i++) {
		unsigned width = (unsigned)(s->steps[i] * BAR_WIDTH / most);
		char from[TEXT_MAX], n[TEXT_MAX];

		fprintf(out, "  %10s %12s%s", text_duration(from, sync_rows_least(i)),
			text_count(n, s->steps[i]), width ? "  " : "");
		for (unsigned k = 0; k < width; k++)
			fputs("█", out);
		fputc('\n', out);
	}
}

static void print_class(const struct sync_view *v, bool is_lock, FILE *out)
{
	const struct sync_sums *s = is_lock ? &v->sync.locks : &v->sync.others;

	fprintf(out, "\n%s\n\n",
		is_lock ? "Locks that others held"
			: "Conditions, semaphores, barriers and ends of threads");
	print_table(v, is_lock, out);
	if (v->has_histogram && sync_rows_end(s))
		print_steps(s, out);
}

static void print_short(const struct sync_view *v, FILE *out)
{
	struct sync_short s = sync_rows_short(v->report.profile);
	char threshold[TEXT_MAX], n[TEXT_MAX], ns[TEXT_MAX];

	if (s.n)
		fprintf(out,
			"\n%s wait%s shorter than %s, %s together, %s only counted\n",
			text_count(n, s.n), s.n == 1 ? "" : "s",
			text_duration(threshold, s.threshold_ns), text_duration(ns, s.ns),
			s.n == 1 ? "was" : "were");
}

void sync_text_print(const struct sync_view *v, FILE *out)
{
	report_head_subject(&v->report, 0, out);
	for (size_t i = 1; i < profile_n_sources(v->report.profile); i++)
		report_head_subject(&v->report, i, out);
	report_head_filter(&v->report, out);
	if (!v->sync.locks.n && !v->sync.others.n)
		fputs("\nNo thread waited for another.\n", out);
	if (v->sync.locks.n)
		print_class(v, true, out);
	if (v->sync.others.n)
		print_class(v, false, out);
	print_short(v, out);
	report_quality_print_gaps(&v->report, out);
}
