/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/power_steps.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_quality.h"
#include "cmd/report_table.h"
#include "cmd/report_text.h"
#include "cmd/rows_view.h"

#define BAR_WIDTH 40
#define MAX_DEPTH 60 /* further in nothing is seen of a name */

static bool has_cell(const struct rows_view *v, const struct rows_column *c)
{
	return c->title && !c->is_steps && (!c->is_shown || c->is_shown(v, c));
}

static const char *unit_of(const struct rows_view *v, const struct rows_column *c)
{
	return c->unit ? c->unit : v->unit;
}

static void add_columns(const struct rows_view *v, struct report_table *t)
{
	const char *by = v->kind->bys ? v->kind->bys[v->by].title : NULL;

	for (const struct rows_column *c = v->kind->columns; !rows_view_is_end(c); c++) {
		if (!has_cell(v, c))
			continue;
		if (!c->share)
			report_table_number(t, c->title);
		else if (c->is_text)
			report_table_text(t, c->title, c->share);
		else
			report_table_name(t, c->is_name && by ? by : c->title, c->share);
	}
}

typedef void word_fn(const struct rows_view *v, const void *row, struct rows_word *ret);

static void put_word(const struct rows_view *v, word_fn *fn, const void *row,
		     struct report_table *t)
{
	struct rows_word word = { 0 };
	char indent[2 * MAX_DEPTH + 1];

	fn(v, row, &word);
	snprintf(indent, sizeof(indent), "%*s",
		 (int)(2 * (word.depth < MAX_DEPTH ? word.depth : MAX_DEPTH)), "");
	report_table_decorated(t, indent, buf_str(&word.text),
			       word.after ? word.after : "");
	buf_fini(&word.text);
}

static void put_cell(const struct rows_view *v, const struct rows_column *c,
		     const void *row, bool is_total, struct report_table *t)
{
	uint64_t n = c->word || c->above ? 0 : rows_view_number(v, c, row);
	char s[TEXT_MAX];

	if (c->word && is_total)
		report_table_cell(t, c->is_name ? "<total>" : "");
	else if (c->word)
		put_word(v, c->word, row, t);
	else if (c->above)
		report_table_cell(t, "");
	else
		report_table_cell(t, n ? text_value(s, n, unit_of(v, c)) : "–");
}

static bool has_above(const struct rows_view *v, const void *row)
{
	bool has = false;

	for (const struct rows_column *c = v->kind->columns; !rows_view_is_end(c); c++) {
		struct rows_word word = { 0 };

		if (!c->above)
			continue;
		c->above(v, row, &word);
		has |= word.text.size > 0;
		buf_fini(&word.text);
	}
	return has;
}

static void put_above(const struct rows_view *v, const void *row, struct report_table *t)
{
	report_table_row(t, false);
	for (const struct rows_column *c = v->kind->columns; !rows_view_is_end(c); c++)
		if (has_cell(v, c) && c->above)
			put_word(v, c->above, row, t);
		else if (has_cell(v, c))
			report_table_cell(t, "");
}

static void put_row(const struct rows_view *v, const void *row, bool is_total,
		    struct report_table *t)
{
	own(buf_fini) struct buf note = { 0 };

	report_table_row(t, is_total);
	for (const struct rows_column *c = v->kind->columns; !rows_view_is_end(c); c++)
		if (has_cell(v, c))
			put_cell(v, c, row, is_total, t);
	if (v->kind->note && !is_total)
		v->kind->note(v, row, &note);
	if (note.size)
		report_table_note(t, buf_str(&note));
}

static void print_table(const struct rows_view *v, const struct rows_part *p, FILE *out)
{
	own(report_table_freep) struct report_table *t =
		report_table_new(v->report.width, command_terminal()->colour);
	size_t n = rows_view_shown(v, p);

	add_columns(v, t);
	if (p->total)
		put_row(v, p->total, true, t);
	for (size_t i = 0; i < n; i++) {
		const void *row = rows_view_row(v, p->first + i);

		if (has_above(v, row))
			put_above(v, row, t);
		put_row(v, row, false, t);
	}
	report_table_print(t, out);
	report_text_more(p->n - n, out);
}

static void print_step(const struct power_steps *s, unsigned i, const char *unit,
		       uint64_t most, FILE *out)
{
	char from[TEXT_MAX], n[TEXT_MAX], pct[TEXT_MAX];
	unsigned width = (unsigned)(s->n[i] * BAR_WIDTH / most);

	fprintf(out, "  %10s %12s %8s%s",
		i ? text_value(from, power_steps_least(i), unit) : "0",
		text_count(n, s->n[i]), text_pct(pct, (double)s->n[i], (double)s->sum),
		width ? "  " : "");
	for (unsigned k = 0; k < width; k++)
		fputs("█", out);
	fputc('\n', out);
}

static void print_steps(const struct rows_view *v, const struct rows_column *c,
			const struct power_steps *s, FILE *out)
{
	unsigned end = power_steps_end(s);
	uint64_t most = 1;

	if (!end)
		return;
	for (unsigned i = 0; i < end; i++)
		most = s->n[i] > most ? s->n[i] : most;
	fprintf(out, "\n%s, from each up to the next:\n", c->title);
	for (unsigned i = power_steps_first(s); i < end; i++)
		print_step(s, i, unit_of(v, c), most, out);
}

static void print_part(const struct rows_view *v, const struct rows_part *p, FILE *out)
{
	if (p->title)
		fprintf(out, "%s\n\n", p->title);
	print_table(v, p, out);
	for (const struct rows_column *c = v->kind->columns;
	     v->has_histogram && !rows_view_is_end(c); c++)
		if (c->is_steps)
			print_steps(v, c, (const void *)((const char *)p->total + c->at),
				    out);
}

/* A line of totals says what the head's lines of events would. */
static void print_head(const struct rows_view *v, FILE *out)
{
	if (v->kind->has_total)
		report_head_subjects(&v->report, out);
	else
		report_head_print(&v->report, out);
}

void rows_text_print(const struct rows_view *v, FILE *out)
{
	print_head(v, out);
	if (!v->parts.n && v->kind->nothing && !v->report.filter)
		fprintf(out, "%s\n", v->kind->nothing);
	else if (!v->parts.n)
		report_text_nothing(&v->report, out);
	vec_each(p, &v->parts) {
		if (p != v->parts.at)
			fputc('\n', out);
		print_part(v, p, out);
	}
	if (v->kind->text_below)
		v->kind->text_below(v, out);
	report_quality_print_gaps(&v->report, out);
}
