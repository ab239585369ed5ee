/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stats_table.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"

#define MANY_SETS   24 /* have a line each */
#define LEAST_NAMES 30 /* what numbers leave to the names at least */
#define LARGE_PCT   1  /* of the sum: a spread that is shown bold */

enum { RANGE, SUM, SUM_PCT, N, MEAN, DEVIATION, MIN, MAX, N_COLUMNS };

static const struct {
	const char *title;
	bool has_unit;
} columns[N_COLUMNS] = {
	[RANGE] = { "Range\n%", false }, [SUM] = { "Sum", true },
	[SUM_PCT] = { "Sum\n%", false }, [N] = { "\nN", false },
	[MEAN] = { "Mean", true },	 [DEVIATION] = { "Std dev", true },
	[MIN] = { "Min", true },	 [MAX] = { "Max", true },
};

/* What gives way first where there is no room for all. */
static const unsigned least_wanted[] = { SUM, DEVIATION, MIN, MAX };

enum { N_LEAST_WANTED = sizeof(least_wanted) / sizeof(least_wanted[0]) };

struct fit {
	const struct stats_view *v;
	struct report_scale scale;
	double all; /* the sum of the totals */
	bool is_left_out[N_COLUMNS];
};

struct spread stats_table_spread(const struct stats_view *v, size_t event, size_t row)
{
	return spread_of(&v->sets[event],
			 row_view_values(&v->rows, row, v->is_inclusive));
}

static const struct spread_sets *sets_of(const struct stats_view *v)
{
	return &v->sets[v->event];
}

static const struct profile_column *column_of(const struct stats_view *v, size_t set)
{
	return profile_column(v->rows.r->profile, sets_of(v)->at[set].column);
}

/* A number in the unit that the column's title names. */
static char *put_plain(char *s, double value, const struct report_scale *scale)
{
	if (value == 0)
		snprintf(s, TEXT_MAX, "–");
	else if (scale->divisor == 0)
		snprintf(s, TEXT_MAX, "%.*f", value < 1000 ? 1 : 0, value);
	else
		snprintf(s, TEXT_MAX, "%.*f", scale->decimals, value / scale->divisor);
	return s;
}

static char *put_pct(char *s, double part, double whole)
{
	if (part == 0 || whole <= 0)
		snprintf(s, TEXT_MAX, "–");
	else
		snprintf(s, TEXT_MAX, "%.2f", 100 * part / whole);
	return s;
}

static void put_number(const struct fit *f, struct report_table *t, unsigned column,
		       const struct spread *r)
{
	const double values[N_COLUMNS] = {
		[SUM] = r->sum, [MEAN] = r->mean,
		[MIN] = r->min, [DEVIATION] = r->deviation,
		[MAX] = r->max,
	};
	char s[TEXT_MAX];

	if (column == RANGE)
		report_table_decorated(t, r->is_chance ? "~ " : "",
				       put_pct(s, r->range, 1), "");
	else if (column == SUM_PCT)
		report_table_cell(t, put_pct(s, r->sum, f->all));
	else if (column == N)
		report_table_cell(t, text_count(s, r->n));
	else
		report_table_cell(t, put_plain(s, values[column], &f->scale));
}

static void put_numbers(const struct fit *f, struct report_table *t,
			const struct spread *r)
{
	for (unsigned i = 0; i < N_COLUMNS; i++)
		if (!f->is_left_out[i])
			put_number(f, t, i, r);
}

static void add_titles(const struct fit *f, struct report_table *t)
{
	const char *unit = f->scale.divisor > 0 ? f->scale.unit : "";

	for (unsigned i = 0; i < N_COLUMNS; i++) {
		own(freep) char *title = xasprintf("%s%s%s", columns[i].title,
						   columns[i].has_unit ? "\n" : "",
						   columns[i].has_unit ? unit : "");

		if (!f->is_left_out[i])
			report_table_number(t, title);
	}
	row_view_add_names(&f->v->rows, t);
}

static struct report_table *make_table(const struct fit *f)
{
	const struct stats_view *v = f->v;
	struct spread totals = spread_of_totals(sets_of(v));
	struct report_table *t =
		report_table_new(v->rows.r->width, command_terminal()->colour);

	add_titles(f, t);
	report_table_row(t, false);
	put_numbers(f, t, &totals);
	report_table_cell(t, "<total>");
	for (size_t i = 0; i < v->rows.n_shown; i++) {
		size_t row = v->rows.rows[i].id;
		struct spread r = stats_table_spread(v, v->event, row);
		bool is_large = r.sum * 100 >= LARGE_PCT * f->all;

		report_table_row(t, is_large && r.range > 0 && !r.is_chance);
		put_numbers(f, t, &r);
		row_view_put_names(&v->rows, t, row);
	}
	return t;
}

static struct report_table *fit_table(struct fit *f)
{
	for (unsigned i = 0;; i++) {
		struct report_table *t = make_table(f);

		if (i == N_LEAST_WANTED ||
		    report_table_numbers_width(t) + LEAST_NAMES <= f->v->rows.r->width)
			return t;
		report_table_free(t);
		f->is_left_out[least_wanted[i]] = true;
	}
}

/* The unit is that of what a recording has, not of their sum. */
static struct fit fit_of(const struct stats_view *v)
{
	struct spread totals = spread_of_totals(sets_of(v));

	return (struct fit){
		.v = v,
		.scale = report_value_scale((uint64_t)totals.max, column_of(v, 0)->unit),
		.all = totals.sum,
	};
}

static bool has_chance(const struct stats_view *v)
{
	for (size_t i = 0; i < v->rows.n_shown; i++)
		if (stats_table_spread(v, v->event, v->rows.rows[i].id).is_chance)
			return true;
	return false;
}

static void put_rest(const struct stats_view *v, FILE *out)
{
	char s[TEXT_MAX];

	report_text_more(v->rows.n_nonzero - v->n_small - v->rows.n_shown, out);
	if (v->n_small)
		fprintf(out, "… %s more with less than %g %% of the sum each (--min)\n",
			text_count(s, v->n_small), v->rows.r->ranking.min_pct);
}

static void put_other_events(const struct stats_view *v, FILE *out)
{
	const struct comparison *c = &v->rows.comparison;
	own(buf_fini) struct buf b = { 0 };

	for (size_t i = 0; i < c->n_events; i++) {
		size_t column = comparison_column(c, i, 0);

		if (i == v->event)
			continue;
		buf_puts(&b, b.size ? ", " : "… other events (--event): ");
		report_text_safe(&b, profile_column(v->rows.r->profile, column)->name);
	}
	if (b.size)
		report_text_line(out, v->rows.r, "", &b);
}

void stats_table_print(const struct stats_view *v, FILE *out)
{
	struct fit f = fit_of(v);
	own(report_table_freep) struct report_table *t = fit_table(&f);

	report_table_print(t, out);
	put_rest(v, out);
	put_other_events(v, out);
	if (has_chance(v))
		fputs("~ sampling alone spreads as much in one of twenty cases or more\n",
		      out);
}

static const char *subject(const struct recording *r)
{
	const char *command = recording_info(r, "command");
	const char *target = recording_info(r, "target");

	return command && command[0] ? command : target ? target : "";
}

/* "[3] 0.872 s  ./wave5 ref.in, 3.dwell" */
static void put_set(const struct fit *f, size_t i, FILE *out)
{
	const struct stats_view *v = f->v;
	const struct profile_column *c = column_of(v, i);
	const struct recording *r = profile_source(v->rows.r->profile, c->source);
	own(buf_fini) struct buf b = { 0 };
	char value[TEXT_MAX];

	report_text_source(v->rows.r, c->source, &b);
	buf_printf(&b, "%s  ", report_value_text(value, c->total_weight, &f->scale));
	report_text_safe(&b, subject(r));
	buf_puts(&b, subject(r)[0] ? ", " : "");
	report_text_safe(&b, recording_path(r));
	report_text_line(out, v->rows.r, "  ", &b);
}

void stats_table_print_head(const struct stats_view *v, FILE *out)
{
	struct fit f = fit_of(v);
	const struct profile_column *c = column_of(v, 0);
	size_t n = sets_of(v)->n;
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	buf_printf(&b, "%zu recordings of ", n);
	report_text_safe(&b, c->name);
	buf_printf(&b, ", %s in all", text_value(s, (uint64_t)f.all, c->unit));
	fputs(report_text_bold(true), out);
	report_text_line(out, v->rows.r, "", &b);
	fputs(report_text_bold(false), out);
	for (size_t i = 0; i < n && i < MANY_SETS; i++)
		put_set(&f, i, out);
	if (n > MANY_SETS)
		fprintf(out, "  … and %zu more\n", n - MANY_SETS);
	if (v->is_share)
		fputs("  all scaled to their mean total: shares are compared\n", out);
	if (v->is_inclusive)
		fputs("  inclusive: what a row calls counts with it\n", out);
	if (v->rows.r->filter) {
		buf_puts(&b, "only where ");
		report_text_safe(&b, v->rows.r->filter);
		report_text_line(out, v->rows.r, "  ", &b);
	}
	fputc('\n', out);
}

/* The recordings with the least and the most of a row. */
static void find_extremes(const struct stats_view *v, size_t row, size_t *least,
			  size_t *most)
{
	const uint64_t *values = row_view_values(&v->rows, row, v->is_inclusive);
	const struct spread_sets *s = sets_of(v);

	*least = *most = 0;
	for (size_t i = 1; i < s->n; i++) {
		double value = (double)values[s->at[i].column] * s->at[i].factor;

		if (value < (double)values[s->at[*least].column] * s->at[*least].factor)
			*least = i;
		if (value > (double)values[s->at[*most].column] * s->at[*most].factor)
			*most = i;
	}
}

void stats_table_print_next(const struct stats_view *v, FILE *out)
{
	const struct report *r = v->rows.r;
	size_t row = v->rows.rows[0].id, least, most;
	struct spread top = stats_table_spread(v, v->event, row);
	own(buf_fini) struct buf b = { 0 };

	if (top.range == 0 || top.is_chance)
		return;
	find_extremes(v, row, &least, &most);
	buf_puts(&b, "diff");

	const size_t sets[] = { least, most };

	for (unsigned i = 0; i < 2; i++)
		report_text_recording(r, column_of(v, sets[i])->source, &b);
	fprintf(out, "\nNext: %sdwell %s%s\n", report_text_bold(true), buf_str(&b),
		report_text_bold(false));
}
