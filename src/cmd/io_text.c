/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/io_view.h"
#include "cmd/report_head.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"

#define STACK_FRAMES 12 /* of a row; the innermost */
#define NAME_COLUMN  7
#define BAR_WIDTH    40

static void cell_or_dash(struct table *t, uint64_t n, char *(*text)(char *s, uint64_t n))
{
	char s[TEXT_MAX];

	table_cell(t, n ? text(s, n) : "–");
}

static uint64_t average_of(const struct io_rows_sums *s)
{
	return s->sizes.sum ? (s->read_bytes + s->written_bytes) / s->sizes.sum : 0;
}

/* The end of the last step that has a call. */
static uint64_t longest_of(const struct io_rows_sums *s)
{
	return s->times.sum ? io_rows_least(io_rows_last(&s->times) + 1) : 0;
}

static void put_sums(struct table *t, const struct io_rows_sums *s)
{
	cell_or_dash(t, s->ns, text_duration);
	cell_or_dash(t, longest_of(s), text_duration);
	cell_or_dash(t, s->calls, text_count);
	cell_or_dash(t, s->errors, text_count);
	cell_or_dash(t, s->read_bytes, text_size);
	cell_or_dash(t, s->written_bytes, text_size);
	cell_or_dash(t, average_of(s), text_size);
}

/* Who called the function of the row, and so on. */
static void put_callers(struct table *t, const struct io_view *v,
			const struct io_row *row)
{
	own(buf_fini) struct buf b = { 0 };

	for (size_t i = 1; i < row->n_frames && i < STACK_FRAMES; i++) {
		buf_puts(&b, i > 1 ? " ← " : "← ");
		report_text_safe(
			&b, profile_function(v->report.profile, row->frames[i])->name);
	}
	if (row->n_frames > STACK_FRAMES)
		buf_puts(&b, " ← …");
	if (b.size)
		table_note(t, NAME_COLUMN, buf_str(&b));
}

static void print_rows(const struct io_view *v, FILE *out)
{
	const struct table_column columns[] = {
		{ .title = "Time", .align = TABLE_RIGHT },
		{ .title = "Longest\n<", .align = TABLE_RIGHT },
		{ .title = "Calls", .align = TABLE_RIGHT },
		{ .title = "Errors", .align = TABLE_RIGHT },
		{ .title = "Read", .align = TABLE_RIGHT },
		{ .title = "Written", .align = TABLE_RIGHT },
		{ .title = "Average", .align = TABLE_RIGHT },
		{ .title = v->title, .is_elastic = true },
	};
	own(table_freep) struct table *t =
		table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct table_style style = { .width = v->report.width,
				     .colour = command_terminal()->colour };

	table_row(t);
	put_sums(t, &v->io.total);
	table_cell(t, "<total>");
	for (size_t i = 0; i < v->n_shown; i++) {
		const struct io_row *row = &v->io.rows.at[v->order[i]];

		table_row(t);
		put_sums(t, &row->sums);
		table_cell(t, row->name);
		if (v->by == IO_ROWS_BY_STACK)
			put_callers(t, v, row);
	}
	table_print(t, &style, out);
	if (v->n_shown < v->io.rows.n) {
		char left[TEXT_MAX];

		fprintf(out, "… %s more (--limit 0 shows all)\n",
			text_count(left, v->io.rows.n - v->n_shown));
	}
}

/* Steps. */

static void print_step(const struct io_rows_steps *s, unsigned i,
		       char *(*text)(char *s, uint64_t n), uint64_t most, FILE *out)
{
	char from[TEXT_MAX], n[TEXT_MAX], pct[TEXT_MAX];
	unsigned width = (unsigned)(s->n[i] * BAR_WIDTH / most);

	fprintf(out, "  %10s %12s %8s%s", i ? text(from, io_rows_least(i)) : "0",
		text_count(n, s->n[i]), text_pct(pct, (double)s->n[i], (double)s->sum),
		width ? "  " : "");
	for (unsigned k = 0; k < width; k++)
		fputs("█", out);
	fputc('\n', out);
}

static void print_steps(const char *title, const struct io_rows_steps *s,
			char *(*text)(char *s, uint64_t n), FILE *out)
{
	uint64_t most = 1;
	unsigned first = IO_ROWS_STEPS;

	for (unsigned i = 0; i < IO_ROWS_STEPS; i++) {
		most = s->n[i] > most ? s->n[i] : most;
		if (s->n[i] && first == IO_ROWS_STEPS)
			first = i;
	}
	if (!s->sum)
		return;
	fprintf(out, "\n%s, from each up to the next:\n", title);
	for (unsigned i = first; i <= io_rows_last(s); i++)
		print_step(s, i, text, most, out);
}

/* Of calls that moved something at all. */
static uint64_t piece_of(const struct io_rows_sums *s)
{
	return (s->read_bytes + s->written_bytes) / (s->sizes.sum - s->sizes.n[0]);
}

/* What could be done by fewer calls. */
static void print_small(const struct io_view *v, FILE *out)
{
	const struct profile *p = v->report.profile;

	vec_each(pair, &v->io.pairs) {
		uint64_t blocks = io_rows_blocks_instead(p, pair);
		char n[TEXT_MAX], each[TEXT_MAX], size[TEXT_MAX], few[TEXT_MAX];
		char call[128], file[512];

		if (!blocks)
			continue;
		io_rows_call_name(profile_function(p, pair->call)->name, call,
				  sizeof(call));
		text_printable(file, sizeof(file), profile_function(p, pair->file)->name);
		fprintf(out,
			"\n%s calls of %s moved %s each of %s: with a buffer of %s "
			"it would take %s\n",
			text_count(n, pair->sums.calls), call,
			text_size(each, piece_of(&pair->sums)), file,
			text_size(size, IO_ROWS_BLOCK_BYTES), text_count(few, blocks));
	}
}

/* What the calls of an io_uring hand over is no call, and is not here. */
static void print_unseen(const struct io_view *v, FILE *out)
{
	const struct profile *p = v->report.profile;
	uint64_t calls = 0;
	char n[TEXT_MAX];

	vec_each(pair, &v->io.pairs)
		if (strcmp(profile_function(p, pair->call)->name,
			   "[syscall io_uring_enter]") == 0)
			calls += pair->sums.calls;
	if (calls)
		fprintf(out,
			"\n%s calls of io_uring_enter: the requests that they hand "
			"over are not seen\n",
			text_count(n, calls));
}

void io_text_print(const struct io_view *v, FILE *out)
{
	report_head_print(&v->report, out);
	if (!v->io.rows.n) {
		report_text_nothing(&v->report, out);
	} else {
		print_rows(v, out);
		if (v->has_histogram) {
			print_steps("Bytes that a call moved", &v->io.total.sizes,
				    text_size, out);
			print_steps("Time that a call took", &v->io.total.times,
				    text_duration, out);
		}
		print_small(v, out);
		print_unseen(v, out);
	}
	report_quality_print_gaps(&v->report, out);
}
