/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/row_report.h"

#include <stdio.h>
#include <string.h>

#include "analyze/grouping.h"
#include "analyze/listing.h"
#include "analyze/names.h"
#include "analyze/waits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_profile.h"
#include "cmd/report_quality.h"
#include "cmd/report_table.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"

#define DEFAULT_LIMIT 30
#define LEAST_NAMES   34 /* what numbers leave to the names at least */
#define LEAST_TIGHT   28 /* when there would be fewer columns else */
#define LEAST_THREE   40 /* and that to three columns of names */
#define HOT_PCT	      10 /* a row with this share is shown bold */

/* What of every column is shown; narrower when it does not fit. */
enum detail { EXCLUSIVE_ONLY, PERCENT_ONLY, WITHOUT_INCLUSIVE_VALUE, EVERYTHING };

struct view {
	const struct report *r;
	const struct dimension *d;
	struct grouping *g;
	const struct metrics *m;
	struct ranking_row *rows;
	size_t n_shown, n_nonzero;
	size_t n_columns; /* shown side by side */
	enum detail detail;
	bool has_parts; /* of wholes are shown beside them */
};

static uint64_t total_of(const struct view *v, size_t column)
{
	return profile_column(v->r->profile, column)->total_weight;
}

/* Whether a dimension has a second name beside the row's own. */
static bool has_image(const struct view *v)
{
	return v->d->scope == DIMENSION_FRAME && strcmp(v->d->name, "image") != 0 &&
	       strcmp(v->d->name, "file") != 0;
}

static bool has_function(const struct view *v)
{
	return strcmp(v->d->name, "line") == 0 || strcmp(v->d->name, "instruction") == 0;
}

/* A row's largest share of the columns, so that what is 0 in the order's own column
 * still comes before what is nothing at all. */
static uint64_t largest_share(const struct view *v, size_t row)
{
	double largest = 0;

	for (size_t i = 0; i < v->r->n_shown; i++) {
		size_t c = v->r->shown[i];
		double total = (double)total_of(v, c);
		double value = (double)v->m->inclusive[row * v->m->n_columns + c];

		if (total > 0 && value / total > largest)
			largest = value / total;
	}
	return (uint64_t)(largest * 1e12);
}

static void order_rows(struct view *v)
{
	const struct report *r = v->r;
	struct ranking_options o = r->ranking;
	size_t n = v->m->n_rows, c = r->sort_column;

	v->rows = xcalloc(n + 1, sizeof(*v->rows));
	if (!v->m->n_columns)
		return;
	for (size_t i = 0; i < n; i++) {
		const uint64_t *values =
			r->sort_inclusive ? v->m->inclusive : v->m->exclusive;

		v->rows[i] =
			(struct ranking_row){ .id = i,
					      .value = values[i * v->m->n_columns + c],
					      .tie = largest_share(v, i) };
		v->n_nonzero += v->rows[i].tie != 0;
	}
	o.total = total_of(v, c);
	v->n_shown = ranking_order(v->rows, n, &o);
}

/* Whether a column is shown as a share of its whole: not when it is nothing or all. */
static bool is_part_of(const struct view *v, size_t column, size_t whole)
{
	const struct profile_column *c = profile_column(v->r->profile, column);

	return v->has_parts && c->whole == whole && c->total_weight &&
	       c->total_weight < total_of(v, whole);
}

/* "cpu-time" of total-time is cpu; of two words each has its line. */
static void add_part_titles(const struct view *v, struct report_table *t, size_t whole)
{
	const char *before = "of it";

	for (size_t c = 0; c < v->m->n_columns; c++) {
		const char *name = profile_column(v->r->profile, c)->name;
		size_t n = strlen(name);
		own(buf_fini) struct buf title = { 0 };

		if (!is_part_of(v, c, whole))
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
static bool is_named(const struct view *v)
{
	return v->r->n_shown > 1 || profile_n_sources(v->r->profile) > 1 ||
	       profile_column(v->r->profile, v->r->shown[0])->event == MODEL_NONE;
}

static void add_titles(const struct view *v, struct report_table *t)
{
	for (size_t i = 0; i < v->n_columns; i++) {
		own(buf_fini) struct buf name = { 0 }, title = { 0 };

		report_text_column(v->r, v->r->shown[i], &name);
		buf_printf(&title, "%s\n%s", is_named(v) ? buf_str(&name) : "",
			   !grouping_has_inclusive(v->g) ? "Value"
			   : v->detail == PERCENT_ONLY	 ? "Excl."
							 : "Exclusive");
		if (v->detail != PERCENT_ONLY)
			report_table_number(t, buf_str(&title));
		report_table_number(t, v->detail == PERCENT_ONLY ? buf_str(&title) : "%");
		if (v->detail == EVERYTHING)
			report_table_number(t, "Inclusive");
		if (v->detail != EXCLUSIVE_ONLY)
			report_table_number(t, v->detail == EVERYTHING ? "%" : "Incl.");
		add_part_titles(v, t, v->r->shown[i]);
	}
	if (has_function(v)) {
		report_table_name(t, v->d->title, 2);
		report_table_name(t, "Function", 3);
	} else {
		report_table_name(t, v->d->title, 3);
	}
	if (has_image(v))
		report_table_name(t, "Image", 2);
}

/* How a row splits, its callees included: what waits does so in the kernel, and who
 * made it wait is asked. */
static void put_parts(const struct view *v, struct report_table *t, size_t row,
		      size_t whole)
{
	const uint64_t *at = v->m->inclusive + row * v->m->n_columns;
	char s[TEXT_MAX];

	for (size_t c = 0; c < v->m->n_columns; c++)
		if (is_part_of(v, c, whole))
			report_table_cell(t, report_value_whole_pct(s, at[c], at[whole]));
}

static void put_numbers(const struct view *v, struct report_table *t, size_t row)
{
	char s[TEXT_MAX];

	for (size_t i = 0; i < v->n_columns; i++) {
		size_t c = v->r->shown[i], at = row * v->m->n_columns + c;
		const struct profile_column *column = profile_column(v->r->profile, c);
		struct report_scale scale =
			report_value_scale(column->total_weight, column->unit);
		uint64_t exclusive = v->m->exclusive[at], inclusive = v->m->inclusive[at];
		uint64_t total = column->total_weight;

		if (v->detail != PERCENT_ONLY)
			report_table_cell(t, report_value_text(s, exclusive, &scale));
		report_table_cell(t, report_value_pct(s, exclusive, total));
		if (v->detail == EVERYTHING)
			report_table_cell(t, report_value_text(s, inclusive, &scale));
		if (v->detail != EXCLUSIVE_ONLY)
			report_table_cell(t, report_value_pct(s, inclusive, total));
		put_parts(v, t, row, c);
	}
}

static bool is_hot(const struct view *v, size_t row)
{
	size_t at = row * v->m->n_columns + v->r->sort_column;

	return v->m->exclusive[at] * 100 >= HOT_PCT * total_of(v, v->r->sort_column);
}

static void put_row(const struct view *v, struct report_table *t, size_t row)
{
	struct dimension_label label;

	grouping_label(v->g, row, &label);
	report_table_row(t, is_hot(v, row));
	put_numbers(v, t, row);
	report_table_cell(t, buf_str(&label.name));
	if (has_function(v))
		report_table_cell(
			t,
			label.function == MODEL_NONE
				? ""
				: profile_function(v->r->profile, label.function)->name);
	if (has_image(v))
		report_table_cell(t, label.image);
	grouping_label_fini(&label);
}

static struct report_table *make_table(const struct view *v)
{
	struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);

	add_titles(v, t);
	for (size_t i = 0; i < v->n_shown; i++)
		put_row(v, t, v->rows[i].id);
	return t;
}

/* Names give way to another column, or to the parts of one, before those are left out. */
static size_t least_names(const struct view *v)
{
	bool is_tight = v->detail == PERCENT_ONLY;

	for (size_t c = 0; c < v->m->n_columns && v->has_parts; c++)
		is_tight |= profile_column(v->r->profile, c)->whole != MODEL_NONE;
	if (!is_tight)
		return LEAST_NAMES;
	return has_function(v) ? LEAST_THREE : LEAST_TIGHT;
}

/* The most detail with which the numbers leave the names their room, or NULL. */
static struct report_table *fit_detail(struct view *v)
{
	bool has_inclusive = grouping_has_inclusive(v->g);
	int most = has_inclusive ? EVERYTHING : EXCLUSIVE_ONLY;
	int least = has_inclusive ? PERCENT_ONLY : EXCLUSIVE_ONLY;

	for (int d = most; d >= least; d--) {
		bool is_last = v->n_columns == 1 && d == least;

		v->detail = (enum detail)d;

		struct report_table *t = make_table(v);

		if (is_last ||
		    report_table_numbers_width(t) + least_names(v) <= v->r->width)
			return t;
		report_table_free(t);
	}
	return NULL;
}

/* The most columns with their parts; rather all columns without. */
static struct report_table *fit_table(struct view *v)
{
	struct report_table *t = NULL;

	for (v->n_columns = v->r->n_shown; v->n_columns > 0; v->n_columns--) {
		v->has_parts = true;
		t = fit_detail(v);
		v->has_parts = t != NULL;
		if (t || (t = fit_detail(v)))
			return t;
	}
	return make_table(v);
}

static void put_rest(const struct view *v, FILE *out)
{
	size_t hidden = v->n_nonzero - v->n_shown, c = v->r->sort_column;
	size_t n = v->r->n_shown;
	char count[TEXT_MAX], pct[TEXT_MAX];
	uint64_t sum = 0;

	for (size_t i = v->n_shown; i < v->m->n_rows; i++)
		sum += v->m->exclusive[v->rows[i].id * v->m->n_columns + c];
	if (hidden)
		fprintf(out, "… %s more with %s of %s (--limit 0 shows all)\n",
			text_count(count, hidden),
			text_pct(pct, (double)sum, (double)total_of(v, c)),
			profile_column(v->r->profile, c)->name);
	if (v->n_columns < n)
		fprintf(out, "… %zu more event%s not fit: use --width or --event\n",
			n - v->n_columns, n - v->n_columns == 1 ? " does" : "s do");
}

/* The row shown that has most itself: the one to look into. */
static size_t hottest_row(const struct view *v)
{
	size_t n = v->m->n_columns, c = v->r->sort_column, best = v->rows[0].id;

	for (size_t i = 1; i < v->n_shown; i++)
		if (v->m->exclusive[v->rows[i].id * n + c] >
		    v->m->exclusive[best * n + c])
			best = v->rows[i].id;
	return best;
}

/* Where most of what waits does so; MODEL_NONE when that is less than a third of all. */
static uint32_t main_wait(const struct view *v)
{
	const struct profile *p = v->r->profile;
	uint64_t total = total_of(v, v->r->sort_column);

	for (size_t c = 0; c < profile_n_columns(p); c++) {
		const struct profile_column *column = profile_column(p, c);
		own(freep) struct wait *waits = NULL;

		if (!waits_is_column(column) || column->total_weight * 3 < total ||
		    (c != v->r->sort_column && column->whole != v->r->sort_column))
			continue;
		if (waits_find(p, c, &waits))
			return waits[0].function;
	}
	return MODEL_NONE;
}

static uint32_t function_to_try(const struct view *v)
{
	uint32_t f = main_wait(v);
	struct dimension_label label;

	if (f != MODEL_NONE)
		return f;
	grouping_label(v->g, hottest_row(v), &label);
	f = label.function;
	grouping_label_fini(&label);
	return f;
}

/* What to type for a function: its name, or when that takes more than a line the
 * shortened one if it means no other function. */
static char *name_to_type(const struct view *v, uint32_t function)
{
	const char *full = profile_function(v->r->profile, function)->name;
	size_t n = names_without_parameters(full), cap = 4 * strlen(full) + 1;
	size_t room = v->r->width - strlen("Next: dwell annotate ''");
	own(freep) char *name = xstrndup(full, n);
	char *safe = xcalloc(1, cap);

	if (text_width(name) > room) {
		names_shorten(safe, cap, name, room);
		if (listing_means(v->r->profile, safe, function))
			return safe;
	}
	text_printable(safe, cap, name);
	return safe;
}

static void put_next(const struct view *v, FILE *out)
{
	own(buf_fini) struct buf annotate = { 0 }, callers = { 0 };

	if (!v->n_shown || v->d->scope != DIMENSION_FRAME)
		return;

	uint32_t f = function_to_try(v);

	if (f == MODEL_NONE)
		return;

	own(freep) char *name = name_to_type(v, f);

	buf_puts(&annotate, "annotate ");
	report_text_quoted(&annotate, name);
	buf_puts(&callers, "callers ");
	report_text_quoted(&callers, name);

	const char *next[] = { buf_str(&annotate), buf_str(&callers), "tree" };

	report_text_next(v->r, next, 3, out);
}

static void print_text(struct view *v, FILE *out)
{
	report_head_print(v->r, out);
	if (!v->n_shown) {
		fputs("No samples.\n", out);
	} else {
		own(report_table_freep) struct report_table *t = fit_table(v);

		report_table_print(t, out);
		put_rest(v, out);
	}
	report_quality_print(v->r, out);
	put_next(v, out);
}

static void put_json_row(struct json *j, const struct view *v, size_t row)
{
	size_t at = row * v->m->n_columns;
	struct dimension_label label;

	grouping_label(v->g, row, &label);
	json_object(j);
	json_key_str(j, "name", buf_str(&label.name));
	if (label.image)
		json_key_str(j, "image", label.image);
	if (has_function(v) && label.function != MODEL_NONE)
		json_key_str(j, "function",
			     profile_function(v->r->profile, label.function)->name);
	if (label.file)
		json_key_str(j, "file", label.file);
	if (label.line)
		json_key_u64(j, "line", label.line);
	if (label.address)
		json_key_u64(j, "address", label.address);
	report_json_values(j, v->r, "exclusive", v->m->exclusive + at);
	report_json_values(j, v->r, "inclusive", v->m->inclusive + at);
	report_json_values(j, v->r, "samples", v->m->exclusive_counts + at);
	json_object_end(j);
	grouping_label_fini(&label);
}

static void print_json(const struct view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, v->d->name, out);
	for (size_t i = 0; i < v->n_shown; i++)
		put_json_row(&j, v, v->rows[i].id);
	report_json_end(&j, v->r);
}

int row_report_run(struct options *o, const struct dimension *d, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	struct view v = { .r = &r, .d = d };
	int rc = report_profile_open(o, options_argv(o), true, DEFAULT_LIMIT, &r, e);

	if (rc == 0)
		rc = grouping_make(r.profile, d, &v.g, e);
	if (rc < 0)
		return rc;
	v.m = grouping_metrics(v.g);
	order_rows(&v);
	if (r.json)
		print_json(&v, stdout);
	else
		print_text(&v, stdout);
	free(v.rows);
	grouping_free(v.g);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}
