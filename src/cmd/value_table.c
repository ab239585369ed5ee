/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/value_table.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/event_fit.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"
#include "cmd/row_code.h"

#define LEAST_NAMES 34		/* what numbers leave to the names at least */
#define LEAST_TIGHT 28		/* when there would be fewer columns else */
#define LEAST_THREE 40		/* and that to three columns of names */
#define SHARES	    1000000000u /* that make up a whole */
#define HOT_PCT	    10		/* a row with this share is shown bold */

/* What of every column is shown; narrower when it does not fit. */
enum detail {
	SHARE_ONLY,
	EXCLUSIVE_ONLY,
	PERCENT_ONLY,
	WITHOUT_INCLUSIVE_VALUE,
	EVERYTHING
};

struct fit {
	const struct row_view *v;
	size_t n_columns; /* shown side by side */
	enum detail detail;
	bool has_parts; /* of wholes are shown beside them */
	uint64_t *sums; /* by column, of the rows so far; NULL: they are not shown */
};

/* Whether a column is shown as a share of its whole: not when it is nothing or all. */
static bool is_part_of(const struct fit *f, size_t column, size_t whole)
{
	const struct row_view *v = f->v;
	const struct profile_column *c = profile_column(v->r->profile, column);

	return f->has_parts && c->whole == whole && c->total_weight &&
	       c->total_weight < row_view_total(v, whole);
}

/* "cpu-time" of total-time is cpu; of two words each has its line. */
static void add_part_titles(const struct fit *f, struct report_table *t, size_t whole)
{
	const struct row_view *v = f->v;
	const char *before = "of it";

	for (size_t c = 0; c < v->m->n_columns; c++) {
		const char *name = profile_column(v->r->profile, c)->name;
		size_t n = strlen(name);
		own(buf_fini) struct buf title = { 0 };

		if (!is_part_of(f, c, whole))
			continue;
		if (n > 5 && strcmp(name + n - 5, "-time") == 0)
			n -= 5;

		const char *hyphen = memchr(name, '-', n);
		size_t word = hyphen ? (size_t)(hyphen - name) : 0;

		buf_printf(&title, "%.*s\n%.*s", hyphen ? (int)word : (int)strlen(before),
			   hyphen ? name : before, hyphen ? (int)(n - word - 1) : (int)n,
			   hyphen ? hyphen + 1 : name);
		report_table_number(t, buf_str(&title));
		before = "";
	}
}

/* Where there is one event only, the head has said which. */
static bool is_named(const struct row_view *v)
{
	return v->r->n_shown > 1 || profile_n_sources(v->r->profile) > 1 ||
	       profile_column(v->r->profile, v->r->shown[0])->event == MODEL_NONE;
}

static bool has_value(const struct fit *f)
{
	return f->detail != PERCENT_ONLY && f->detail != SHARE_ONLY;
}

static void add_titles(const struct fit *f, struct report_table *t)
{
	const struct row_view *v = f->v;
	for (size_t i = 0; i < f->n_columns; i++) {
		own(buf_fini) struct buf name = { 0 }, title = { 0 };

		report_text_column(v->r, v->r->shown[i], &name);
		buf_printf(&title, "%s\n%s", is_named(v) ? buf_str(&name) : "",
			   !grouping_has_inclusive(v->g) ? "Value"
			   : has_value(f)		 ? "Exclusive"
							 : "Excl.");
		if (has_value(f))
			report_table_number(t, buf_str(&title));
		report_table_number(t, has_value(f) ? "%" : buf_str(&title));
		if (f->sums)
			report_table_number(t, "Cum.");
		if (f->detail == EVERYTHING)
			report_table_number(t, "Inclusive");
		if (f->detail > EXCLUSIVE_ONLY)
			report_table_number(t, f->detail == EVERYTHING ? "%" : "Incl.");
		add_part_titles(f, t, v->r->shown[i]);
	}
	if (v->code && row_code_has_stalls(v->code))
		report_table_number(t, "Stalled");
	row_view_add_names(v, t);
}

/* How a row splits, its callees included: what waits does so in the kernel, and who
 * made it wait is asked. */
static void put_parts(const struct fit *f, struct report_table *t, size_t row,
		      size_t whole)
{
	const struct row_view *v = f->v;
	const uint64_t *at = v->m->inclusive + row * v->m->n_columns;
	char s[TEXT_MAX];

	for (size_t c = 0; c < v->m->n_columns; c++)
		if (is_part_of(f, c, whole))
			report_table_cell(t, report_value_whole_pct(s, at[c], at[whole]));
}

static void put_numbers(const struct fit *f, struct report_table *t, size_t row)
{
	const struct row_view *v = f->v;
	char s[TEXT_MAX];

	for (size_t i = 0; i < f->n_columns; i++) {
		size_t c = v->r->shown[i], at = row * v->m->n_columns + c;
		const struct profile_column *column = profile_column(v->r->profile, c);
		struct report_scale scale =
			report_value_scale(column->total_weight, column->unit);
		uint64_t exclusive = v->m->exclusive[at], inclusive = v->m->inclusive[at];
		uint64_t total = column->total_weight;

		if (has_value(f))
			report_table_cell(t, report_value_text(s, exclusive, &scale));
		report_table_cell(t, report_value_pct(s, exclusive, total));
		if (f->sums)
			report_table_cell(
				t, report_value_pct(s, f->sums[c] += exclusive, total));
		if (f->detail == EVERYTHING)
			report_table_cell(t, report_value_text(s, inclusive, &scale));
		if (f->detail > EXCLUSIVE_ONLY)
			report_table_cell(t, report_value_pct(s, inclusive, total));
		put_parts(f, t, row, c);
	}
}

static bool is_hot(const struct row_view *v, size_t row)
{
	size_t at = row * v->m->n_columns + v->r->sort_column;

	return v->m->exclusive[at] * 100 >=
	       HOT_PCT * row_view_total(v, v->r->sort_column);
}

static void put_stalled(const struct row_code *c, struct report_table *t, size_t row)
{
	uint64_t share = (uint64_t)(row_code_share(c, row) * SHARES);
	char s[TEXT_MAX];

	if (row_code_has_stalls(c))
		report_table_cell(t, report_value_pct(s, share, SHARES));
}

static void put_row(const struct fit *f, struct report_table *t, size_t row)
{
	own(buf_fini) struct buf note = { 0 };

	report_table_row(t, is_hot(f->v, row));
	put_numbers(f, t, row);
	if (f->v->code)
		put_stalled(f->v->code, t, row);
	row_view_put_names(f->v, t, row);
	if (f->v->code && row_code_note(f->v->code, row, &note))
		report_table_note(t, buf_str(&note));
}

static struct report_table *make_table(const struct fit *f)
{
	const struct row_view *v = f->v;

	for (size_t c = 0; f->sums && c < v->m->n_columns; c++)
		f->sums[c] = 0;

	struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);

	add_titles(f, t);
	for (size_t i = 0; i < v->n_shown; i++)
		put_row(f, t, v->rows[i].id);
	return t;
}

/* Names give way to another column, or to the parts of one, before those are left out. */
static size_t least_names(const struct fit *f)
{
	const struct row_view *v = f->v;
	bool is_tight = !has_value(f);

	for (size_t c = 0; c < v->m->n_columns && f->has_parts; c++)
		is_tight |= profile_column(v->r->profile, c)->whole != MODEL_NONE;
	if (!is_tight)
		return LEAST_NAMES;
	return row_view_has_function(v) ? LEAST_THREE : LEAST_TIGHT;
}

/* The most detail with which the numbers leave the names their room, or NULL. */
static struct report_table *fit_detail(struct fit *f)
{
	const struct row_view *v = f->v;
	bool has_inclusive = grouping_has_inclusive(v->g) && !v->no_inclusive;
	int most = has_inclusive ? EVERYTHING : EXCLUSIVE_ONLY;
	int least = has_inclusive     ? PERCENT_ONLY
		    : v->no_inclusive ? SHARE_ONLY
				      : EXCLUSIVE_ONLY;

	for (int d = most; d >= least; d--) {
		bool is_last = f->n_columns == 1 && d == least;

		f->detail = (enum detail)d;

		struct report_table *t = make_table(f);

		if (is_last ||
		    report_table_numbers_width(t) + least_names(f) <= v->r->width)
			return t;
		report_table_free(t);
	}
	return NULL;
}

/* The most columns with their parts; rather all columns without. */
static struct report_table *fit_table(struct fit *f)
{
	const struct row_view *v = f->v;
	struct report_table *t = NULL;

	for (f->n_columns = v->n_events; f->n_columns > 0; f->n_columns--) {
		f->has_parts = true;
		t = fit_detail(f);
		f->has_parts = t != NULL;
		if (t || (t = fit_detail(f)))
			return t;
	}
	return make_table(f);
}

static void put_rest(const struct fit *f, size_t n_others, FILE *out)
{
	const struct row_view *v = f->v;
	size_t hidden = v->n_nonzero - v->n_shown, c = v->r->sort_column;
	char count[TEXT_MAX], pct[TEXT_MAX];
	uint64_t sum = 0;

	for (size_t i = v->n_shown; i < v->m->n_rows; i++)
		sum += v->m->exclusive[v->rows[i].id * v->m->n_columns + c];
	if (hidden)
		fprintf(out, "… %s more with %s of %s (--limit 0 shows all)\n",
			text_count(count, hidden),
			text_pct(pct, (double)sum, (double)row_view_total(v, c)),
			profile_column(v->r->profile, c)->name);
	event_fit_print_rest(v->r, f->n_columns, n_others, out);
}

size_t value_table_n_events(const struct row_view *v)
{
	own(freep) uint64_t *sums =
		v->has_sums ? xcalloc(v->m->n_columns + 1, sizeof(*sums)) : NULL;
	struct fit f = { .v = v, .sums = sums };

	report_table_free(fit_table(&f));
	return f.n_columns;
}

void value_table_print(const struct row_view *v, size_t n_others, FILE *out)
{
	own(freep) uint64_t *sums =
		v->has_sums ? xcalloc(v->m->n_columns + 1, sizeof(*sums)) : NULL;
	struct fit f = { .v = v, .sums = sums };
	own(report_table_freep) struct report_table *t = fit_table(&f);

	report_table_print(t, out);
	put_rest(&f, n_others, out);
}
