/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyze/names.h"
#include "base/buf.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/calc_value.h"
#include "cmd/code_text.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_quality.h"
#include "cmd/report_table.h"
#include "cmd/report_text.h"
#include "cmd/stall_words.h"
#include "cmd/stalls_growth.h"
#include "cmd/stalls_view.h"
#include "insn/machine_model.h"

#define WIDE	     120 /* columns from which instructions are told, too */
#define PLACED	     80	 /* columns from which it is told where */
#define MAX_NAME     48
#define MAX_CODE     15 /* bytes of an instruction */
#define MAX_CULPRITS 4
#define ON_THE_WAY   "→ "   /* before the address of who had not come yet */
#define DEVIATIONS   2.0    /* what is within may be chance */
#define ENOUGH	     100    /* samples: chance makes a fifth of them */
#define LEAST_SHOWN  0.0005 /* of the cycles: what is below is 0.0 % */

static const char *put_pct(char *s, double part, double whole)
{
	double pct = whole > 0 ? 100 * part / whole : 0;

	snprintf(s, TEXT_MAX, "%.1f %%", fabs(pct) < 0.05 ? 0 : pct);
	return s;
}

/* Where the best case is more than all at the end of a range, it was not executed so
 * often: a share beyond the whole means nothing. */
static double share_of(double part, double whole)
{
	double pct = 100 * part / whole;

	return pct < 0 ? 0 : fmin(pct, 100);
}

/* Of what is estimated "93–97 %". */
static const char *put_share(char *s, const struct stalls_line *l, double whole)
{
	char low[TEXT_MAX], high[TEXT_MAX];

	if (!l->is_range || whole <= 0)
		return put_pct(s, l->mean, whole);
	snprintf(low, sizeof(low), "%.0f", share_of(l->low, whole));
	snprintf(high, sizeof(high), "%.0f", share_of(l->high, whole));
	if (strcmp(low, high) == 0)
		snprintf(s, TEXT_MAX, "~%.16s %%", low);
	else
		snprintf(s, TEXT_MAX, "%.16s–%.16s %%", low, high);
	return s;
}

static void put_left(const struct stalls_view *v, const struct stalls_left *l,
		     const char *why, struct buf *b)
{
	char n[TEXT_MAX], share[TEXT_MAX];

	if (!l->samples)
		return;
	buf_printf(b, "%s%s %s, %s", b->size ? "; " : "", text_count(n, l->n), why,
		   text_pct(share, (double)l->samples, (double)v->all_samples));
}

/* "Left out: 12 functions without counts, 1.2 % of all samples; …" */
static void put_left_out(const struct stalls_view *v, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	put_left(v, &v->without_code, "without code at hand", &b);
	put_left(v, &v->uncounted, "that were not counted", &b);
	put_left(v, &v->late, "for want of time (--seconds)", &b);
	if (b.size)
		report_text_labelled(v->r, "left out", &b, out);
}

static const char *put_actual(const struct stalls_view *v, char *text)
{
	const struct stall_sum *s = &v->total;

	if (v->how.is_estimated)
		return calc_value_cycles_range(text, s->cycles / s->instructions_high,
					       s->cycles / s->instructions_low);
	snprintf(text, TEXT_MAX, "%.2f", s->cycles / s->instructions);
	return text;
}

/* What all that follows is worth, and what would tell more. */
static void put_unsure(const struct stalls_view *v, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (!v->how.is_estimated || v->how.least > FREQUENCY_LOW)
		return;
	buf_puts(&b, "How often is estimated with low confidence, so all are ranges. ");
	how_often_put_who_tells(v->r, &b);
	report_text_wrapped(v->r, &b, out);
	how_often_put_refusal(&v->how, v->r, out);
}

/* Exact counts do not help then: it is the cycles that are not known. */
static void put_few(const struct stalls_view *v, FILE *out)
{
	double n = (double)v->total.samples, off = 100 * DEVIATIONS / sqrt(n);
	own(buf_fini) struct buf b = { 0 };

	if (n >= ENOUGH)
		return;
	buf_printf(&b,
		   "So few samples tell little: up to %.0f %% of them may be chance, and "
		   "more of each part",
		   fmin(off, 100));
	report_text_wrapped(v->r, &b, out);
}

static void put_head(const struct stalls_view *v, FILE *out)
{
	const struct stall_sum *s = &v->total;
	char text[TEXT_MAX], share[TEXT_MAX], name[MAX_NAME * 4];
	own(buf_fini) struct buf b = { 0 };

	if (v->kind == STALLS_OF_FUNCTION)
		report_head_function(v->r, v->rows.at[0].function, out);
	else
		fprintf(out, "%s: %s\n",
			v->kind == STALLS_ALL
				? "All"
				: names_shorten(name, sizeof(name), v->name, MAX_NAME),
			text_number(text, v->rows.n, "functions"));
	buf_printf(&b, "%s of %s tallied, %s of all",
		   text_number(text, s->samples, "samples"), v->time,
		   text_pct(share, (double)s->samples, (double)v->all_samples));
	report_text_wrapped(v->r, &b, out);
	put_left_out(v, out);
	put_few(v, out);
	how_often_put(&v->how, &b);
	report_text_wrapped(v->r, &b, out);
	put_unsure(v, out);
	buf_printf(&b, "Best case %.2f cycles an instruction (%s%s), actual %s",
		   s->best / s->instructions, v->model ? v->model->name : "?",
		   v->is_nearest_model ? ", the nearest model" : "", put_actual(v, text));
	report_text_wrapped(v->r, &b, out);
	fputc('\n', out);
}

/* The function that may have most of it; NULL: none has any. */
static const struct stalls_row *most_of(const struct stalls_view *v, unsigned line)
{
	const struct stalls_row *best = NULL;
	double most = 0;

	for (size_t i = 0; i < v->rows.n; i++) {
		const struct stalls_row *row = &v->rows.at[i];

		if (row->lines.at[line].high <= most)
			continue;
		most = row->lines.at[line].high;
		best = row;
	}
	return best;
}

static const char *name_of(const struct stalls_view *v, uint32_t function, char *s,
			   size_t cap)
{
	return names_shorten(s, cap, profile_function(v->r->profile, function)->label,
			     MAX_NAME);
}

/* The place that may have most of a cause. */
static void put_where(const struct stalls_view *v, struct table *t, unsigned line)
{
	const struct stalls_row *row =
		v->kind == STALLS_OF_FUNCTION ? NULL : most_of(v, line);
	char name[MAX_NAME * 4];

	table_cell(t, row ? name_of(v, row->function, name, sizeof(name)) : "");
}

/* Nothing of it is seen: a sum says so, a part of it has no row. */
static bool is_nothing(const struct stalls_line *l, double cycles)
{
	double most = fmax(fmax(fabs(l->low), fabs(l->high)), fabs(l->mean));

	return l->part != STALLS_SUBTOTAL && most < LEAST_SHOWN * cycles;
}

static void put_left_rows(size_t n, FILE *out)
{
	if (n)
		fputs("  Parts without a row are 0.0 % at most\n", out);
}

static void put_line(struct table *t, const struct stalls_line *l, double cycles)
{
	char low[TEXT_MAX], high[TEXT_MAX], mean[TEXT_MAX];

	table_row(t);
	if (l->part == STALLS_SUBTOTAL)
		table_strong(t);
	table_cellf(t, "%s%s", l->part == STALLS_SUBTOTAL ? "" : "  ", l->text);
	table_cell(t, l->is_range ? put_pct(low, l->low, cycles) : "");
	table_cell(t, l->is_range ? put_pct(high, l->high, cycles) : "");
	table_cell(t, l->part == STALLS_CAUSE ? "" : put_pct(mean, l->mean, cycles));
}

static struct stalls_line total_of(const struct stalls_view *v)
{
	double cycles = v->total.cycles;

	return (struct stalls_line){ .text = "total",
				     .part = STALLS_SUBTOTAL,
				     .mean = cycles,
				     .low = cycles,
				     .high = cycles };
}

static void put_sum(const struct stalls_view *v, FILE *out)
{
	const struct stalls_line total = total_of(v);
	const struct table_column columns[] = {
		{ "Of all cycles", TABLE_LEFT, false, 22 },
		{ "At least", TABLE_RIGHT, false, 0 },
		{ "At most", TABLE_RIGHT, false, 0 },
		{ v->lines.is_estimated ? "About" : "Exactly", TABLE_RIGHT, false, 0 },
		{ "Mostly in", TABLE_LEFT, true, 20 },
	};
	bool is_wide = v->r->width >= PLACED && v->kind != STALLS_OF_FUNCTION;
	own(table_freep) struct table *t = table_new(columns, is_wide ? 5 : 4);
	struct table_style style = { .width = v->r->width,
				     .colour = command_terminal()->colour };
	size_t n_left = 0;

	for (unsigned i = 0; i < STALLS_N_LINES; i++) {
		if (is_nothing(&v->lines.at[i], v->total.cycles)) {
			n_left++;
			continue;
		}
		put_line(t, &v->lines.at[i], v->total.cycles);
		if (is_wide)
			put_where(v, t, i);
	}
	table_rule(t);
	put_line(t, &total, v->total.cycles);
	if (is_wide)
		table_cell(t, "");
	table_print(t, &style, out);
	put_left_rows(n_left, out);
	if (v->total.n_stalls)
		fprintf(out, "  %.1f causes that cannot be ruled out for a stall\n",
			(double)v->total.n_candidates / (double)v->total.n_stalls);
}

/* Which instructions stall, of what this is of, and what a function is like. */
static void put_next(const struct stalls_view *v, uint32_t function, bool has_places,
		     FILE *out)
{
	own(buf_fini) struct buf places = { 0 };
	buf_puts(&places, "stalls --by instruction");
	if (v->kind != STALLS_ALL)
		buf_puts(&places, " ");
	if (v->kind == STALLS_OF_IMAGE)
		report_text_quoted(&places, v->name);

	const char *next[] = { "calc ", has_places ? "cfg " : buf_str(&places) };

	report_text_next_of(v->r, function, next, 2, out);
}

void stalls_text_print(const struct stalls_view *v, FILE *out)
{
	report_head_print(v->r, out);
	put_head(v, out);
	put_sum(v, out);
	report_quality_print(v->r, out);
	put_next(v, v->rows.at[0].function, false, out);
}

static void put_more(const struct stalls_view *v, size_t n, FILE *out)
{
	report_text_more(n - stalls_view_shown(v, n), out);
}

/* "D-cache miss 12–43 %": what may have caused most. */
static void put_worst(struct report_table *t, const struct stalls_row *row)
{
	const struct stalls_line *causes = &row->lines.at[STALLS_CAUSES];
	double cycles = row->sum.cycles;
	unsigned worst = 0;
	char text[100] = "";

	for (unsigned i = 1; i < STALL_N_CAUSES; i++)
		if (causes[i].high > causes[worst].high)
			worst = i;
	if (causes[worst].high >= LEAST_SHOWN * cycles)
		snprintf(text, sizeof(text), "%s %.0f–%.0f %%", causes[worst].text,
			 100 * causes[worst].low / cycles,
			 100 * causes[worst].high / cycles);
	report_table_cell(t, text);
}

static void put_procedure(const struct stalls_view *v, struct report_table *t,
			  const struct stalls_row *row)
{
	static const uint8_t parts[] = { STALLS_DYNAMIC, STALLS_STATIC,
					 STALLS_EXECUTION };
	const struct stall_sum *s = &row->sum;
	char text[TEXT_MAX];

	report_table_row(t, false);
	report_table_cell(t, put_pct(text, (double)s->samples, (double)v->all_samples));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		report_table_cell(t,
				  put_share(text, &row->lines.at[parts[i]], s->cycles));
	report_table_cell(t, profile_function(v->r->profile, row->function)->label);
	put_worst(t, row);
}

void stalls_text_print_procedures(const struct stalls_view *v, FILE *out)
{
	own(report_table_freep) struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);

	report_table_number(t, "Time");
	report_table_number(t, "Dynamic");
	report_table_number(t, "Static");
	report_table_number(t, "Execution");
	report_table_name(t, "Function", 2);
	report_table_text(t, "Most may be", 3);
	report_head_print(v->r, out);
	put_head(v, out);
	for (size_t i = 0; i < stalls_view_shown(v, v->rows.n); i++)
		put_procedure(v, t, &v->rows.at[i]);
	report_table_print(t, out);
	put_more(v, v->rows.n, out);
	report_quality_print(v->r, out);
	put_next(v, v->rows.at[0].function, false, out);
}

/* Instructions. */

static void put_code(const struct stalls_view *v, const struct stall_place *x,
		     struct buf *b)
{
	const struct profile *p = v->r->profile;
	const struct profile_function *f = profile_function(p, x->function);
	own(code_text_fini) struct code_text text = { 0 };
	own(buf_fini) struct buf code = { 0 };
	struct disasm_instruction in = { 0 };
	uint64_t left = f->start + f->size - x->address;
	size_t size = left < MAX_CODE ? left : MAX_CODE;

	if (symbolizer_code(profile_symbolizer(p), f->sym_image, x->address, size, &code,
			    NULL) < 0 ||
	    code_text_init(&text, p, x->function, false, NULL) < 0)
		return;
	disasm_decode(text.disasm, code.data, code.size, x->address, &in);
	buf_printf(b, "%s %s", in.mnemonic, in.operands);
}

/* Where there is no room for who is blamed. */
static void put_culprits(const struct stall_place *x, struct buf *b)
{
	bool has[STALL_N_CAUSES] = { false };

	for (unsigned i = 0; i < x->stall.n; i++) {
		unsigned cause = x->stall.culprits[i].cause;

		if (!has[cause])
			buf_printf(b, "%s%s", b->size ? ", " : "",
				   stall_cause_text(cause));
		has[cause] = true;
	}
	if (!x->stall.n)
		buf_puts(b, "unexplained");
}

static const char *put_each(char *s, const struct stall *of)
{
	if (of->low < of->high)
		return calc_value_cycles_range(s, of->low, of->high);
	snprintf(s, TEXT_MAX, "%.1f", of->cycles);
	return s;
}

static void put_place(const struct stalls_view *v, struct report_table *t,
		      const struct stall_place *x, bool is_wide)
{
	const struct stalls_line stalled = { .mean = x->cycles,
					     .low = x->cycles_low,
					     .high = x->cycles_high,
					     .is_range = x->cycles_low < x->cycles_high };
	own(buf_fini) struct buf code = { 0 }, causes = { 0 };
	char text[TEXT_MAX];

	put_code(v, x, &code);
	if (is_wide)
		stall_words_put(x, &causes);
	else
		put_culprits(x, &causes);
	report_table_row(t, false);
	report_table_cell(t, put_share(text, &stalled, v->total.cycles));
	report_table_cell(t, put_each(text, &x->stall));
	snprintf(text, sizeof(text), "%s%" PRIx64, x->is_arrival ? ON_THE_WAY : "",
		 x->address);
	report_table_cell(t, text);
	if (is_wide)
		report_table_cell(t, buf_str(&code));
	report_table_cell(t, profile_function(v->r->profile, x->function)->label);
	report_table_cell(t, buf_str(&causes));
}

static bool has_arrivals(const struct stalls_view *v)
{
	for (size_t i = 0; i < stalls_view_shown(v, v->places.n); i++)
		if (v->places.at[i].is_arrival)
			return true;
	return false;
}

void stalls_text_print_places(const struct stalls_view *v, FILE *out)
{
	bool is_wide = v->r->width >= WIDE;
	own(report_table_freep) struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);

	report_table_number(t, "Stalled");
	report_table_number(t, "Cycles each");
	report_table_number(t, "Address");
	if (is_wide)
		report_table_text(t, "Instruction", 2);
	report_table_name(t, "Function", 2);
	report_table_text(t, "Causes", 3);
	report_head_print(v->r, out);
	put_head(v, out);
	for (size_t i = 0; i < stalls_view_shown(v, v->places.n); i++)
		put_place(v, t, &v->places.at[i], is_wide);
	report_table_print(t, out);
	put_more(v, v->places.n, out);
	if (has_arrivals(v))
		fputs("  " ON_THE_WAY "what stalled on the way there\n", out);
	report_quality_print(v->r, out);
	put_next(v, v->places.n ? v->places.at[0].function : v->rows.at[0].function, true,
		 out);
}

/* Two runs. */

static void put_range(struct table *t, const struct stalls_line *l, double cycles)
{
	double low = cycles > 0 ? 100 * l->low / cycles : 0;
	char high[TEXT_MAX];

	put_pct(high, l->high, cycles);
	if (l->is_range && cycles > 0)
		table_cellf(t, "%.1f–%s", fabs(low) < 0.05 ? 0 : low, high);
	else
		table_cell(t, high);
}

/* Behind the point, of what may be many times the whole. */
static int digits(double pct)
{
	return fabs(pct) < 999.95 ? 1 : 0;
}

/* Of the first one's cycles, by which both are measured: of what was counted both bounds,
 * of estimates whatever they allow. */
static void put_growth(struct table *t, const struct stalls_line *a,
		       const struct stalls_line *b, bool is_estimated, double cycles)
{
	double low = 100 * (b->low - (is_estimated ? a->high : a->low)) / cycles;
	double high = 100 * (b->high - (is_estimated ? a->low : a->high)) / cycles;

	if (!a->is_range && !b->is_range)
		table_cellf(t, "%+.*f %%", digits(high), high);
	else if (fabs(low) < 0.05 && fabs(high) < 0.05)
		table_cell(t, "");
	else
		table_cellf(t, "%+.*f to %+.*f %%", digits(low), fmin(low, high),
			    digits(high), fmax(low, high));
}

static void put_both(struct table *t, const struct stalls_line *a,
		     const struct stalls_line *b, bool is_estimated, double cycles_a,
		     double cycles_b)
{
	table_row(t);
	if (a->part == STALLS_SUBTOTAL)
		table_strong(t);
	table_cellf(t, "%s%s", a->part == STALLS_SUBTOTAL ? "" : "  ", a->text);
	put_range(t, a, cycles_a);
	put_range(t, b, cycles_b);
	put_growth(t, a, b, is_estimated, cycles_a);
}

/* Of several runs, the mean. */
static struct stalls_line of_a_run(const struct stalls_view *v, struct stalls_line all)
{
	all.low /= v->runs;
	all.high /= v->runs;
	return all;
}

static void put_line_of_both(struct table *t, const struct stalls_view *v,
			     const struct stalls_line *a, const struct stalls_view *other,
			     const struct stalls_line *b, bool is_estimated)
{
	const struct stalls_line x = of_a_run(v, *a), y = of_a_run(other, *b);

	put_both(t, &x, &y, is_estimated, v->total.cycles / v->runs,
		 other->total.cycles / other->runs);
}

static void put_two(const struct stalls_view *v, const struct stalls_view *other,
		    FILE *out)
{
	static const struct table_column columns[] = {
		{ "Of all cycles", TABLE_LEFT, true, 12 },
		{ "First", TABLE_RIGHT, false, 0 },
		{ "Second", TABLE_RIGHT, false, 0 },
		{ "Grew by", TABLE_RIGHT, false, 0 },
	};
	own(table_freep) struct table *t = table_new(columns, 4);
	struct table_style style = { .width = v->r->width,
				     .colour = command_terminal()->colour };
	const struct stalls_line all[] = { total_of(v), total_of(other) };
	bool is_estimated = v->lines.is_estimated || other->lines.is_estimated;
	own(buf_fini) struct buf note = { 0 };
	size_t n_left = 0;

	for (unsigned i = 0; i < STALLS_N_LINES; i++) {
		if (is_nothing(&v->lines.at[i], v->total.cycles) &&
		    is_nothing(&other->lines.at[i], other->total.cycles))
			n_left++;
		else
			put_line_of_both(t, v, &v->lines.at[i], other,
					 &other->lines.at[i], is_estimated);
	}
	table_rule(t);
	put_line_of_both(t, v, &all[0], other, &all[1], false);
	table_print(t, &style, out);
	buf_puts(&note, "First and Second are shares of each run's cycles, growth of "
			"the first one's");
	report_text_wrapped(v->r, &note, out);
	put_left_rows(n_left, out);
}

void stalls_text_print_two(const struct stalls_view *v, const struct stalls_view *other,
			   const struct stalls_growth *growth, FILE *out)
{
	fputs("First\n", out);
	report_head_print(v->r, out);
	put_head(v, out);
	fputs("Second\n", out);
	report_head_print(other->r, out);
	put_head(other, out);
	put_two(v, other, out);
	if (growth)
		stalls_growth_print(growth, other, out);
	report_quality_print(v->r, out);
	report_quality_print(other->r, out);
	put_next(other, other->rows.at[0].function, false, out);
}
