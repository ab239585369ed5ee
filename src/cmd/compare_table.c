/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/compare_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_json.h"
#include "cmd/report_value.h"

#define LEAST_NAMES 34 /* what numbers leave to the names at least */
#define LARGE_PCT   1  /* of all: a change that is shown bold */

/* What is shown of an event; the first that fits. */
static const struct detail {
	bool has_ratio, has_inclusive_change, has_inclusive;
} details[] = {
	{ true, true, true },
	{ true, true, false },
	{ true, false, false },
	{ false, false, false },
};

enum { N_DETAILS = sizeof(details) / sizeof(details[0]) };

/* A column of the first recording and of another: what is compared. */
struct pair {
	size_t before, after;
};

static struct pair pair_of(const struct row_view *v, size_t event, size_t source)
{
	return (struct pair){ comparison_column(&v->comparison, event, 0),
			      comparison_column(&v->comparison, event, source) };
}

static struct comparison_change change_of(const struct row_view *v, struct pair pair,
					  const uint64_t *values)
{
	return comparison_of(v->r->profile, pair.before, values[pair.before], pair.after,
			     values[pair.after]);
}

/* The event that --sort names, else the first. */
static size_t order_event(const struct row_view *v)
{
	for (size_t i = 0; i < v->comparison.n_events; i++)
		if (comparison_column(&v->comparison, i, 0) == v->r->sort_column)
			return i;
	return 0;
}

/* What chance may have done is no change. */
static uint64_t weight_of(struct comparison_change c, bool is_ratio)
{
	if (c.is_chance || c.delta == 0)
		return 0;
	if (!is_ratio)
		return (uint64_t)llabs(c.delta);
	if (isinf(c.ratio) || c.ratio == 0)
		return UINT32_MAX;
	return (uint64_t)(fabs(log2(c.ratio)) * 1e6);
}

uint64_t compare_table_weight(const struct row_view *v, size_t row, bool is_inclusive,
			      bool is_ratio)
{
	const uint64_t *values = row_view_values(v, row, is_inclusive);
	size_t event = order_event(v);
	uint64_t most = 0;

	for (size_t i = 1; i < v->comparison.n_sources; i++) {
		struct comparison_change c = change_of(v, pair_of(v, event, i), values);
		uint64_t w = weight_of(c, is_ratio);

		most = w > most ? w : most;
	}
	return most;
}

static struct report_scale scale_of(const struct row_view *v, size_t event)
{
	uint64_t largest = 0;
	size_t first = comparison_column(&v->comparison, event, 0);

	for (size_t i = 0; i < v->comparison.n_sources; i++) {
		uint64_t total =
			row_view_total(v, comparison_column(&v->comparison, event, i));

		largest = total > largest ? total : largest;
	}
	return report_value_scale(largest, profile_column(v->r->profile, first)->unit);
}

/* "Exclusive" above the first column of a group, which may have to name its event. */
static void add_group(const struct row_view *v, struct report_table *t, const char *what,
		      bool has_values, bool has_ratio)
{
	own(buf_fini) struct buf title = { 0 };

	for (size_t i = 0; i < v->comparison.n_sources; i++) {
		if (has_values) {
			buf_printf(&title, "%s\n[%zu]", what, i + 1);
			report_table_number(t, buf_str(&title));
			buf_clear(&title);
			what = "";
		}
		if (!i)
			continue;
		buf_printf(&title, "%s\nChange", what);
		report_table_number(t, buf_str(&title));
		buf_clear(&title);
		what = "";
		if (has_ratio)
			report_table_number(t, "Ratio");
	}
}

static void add_titles(const struct row_view *v, struct report_table *t, size_t n_events,
		       const struct detail *d)
{
	for (size_t i = 0; i < n_events; i++) {
		size_t c = comparison_column(&v->comparison, i, 0);
		const char *name = profile_column(v->r->profile, c)->name;
		bool has_inclusive = grouping_has_inclusive(v->g);

		add_group(v, t,
			  v->comparison.n_events > 1 ? name
			  : has_inclusive	     ? "Exclusive"
						     : "",
			  true, d->has_ratio);
		if (has_inclusive && d->has_inclusive_change)
			add_group(v, t, "Inclusive", d->has_inclusive, d->has_ratio);
	}
	row_view_add_names(v, t);
}

static void put_change(const struct row_view *v, struct report_table *t, struct pair pair,
		       const uint64_t *values, const struct report_scale *scale,
		       bool has_ratio)
{
	struct comparison_change c = change_of(v, pair, values);
	char s[TEXT_MAX];

	report_table_decorated(t, c.is_chance && c.delta ? "~ " : "",
			       report_value_change(s, c.delta, scale), "");
	if (has_ratio)
		report_table_cell(t, report_value_ratio(s, c.ratio));
}

static void put_group(const struct row_view *v, struct report_table *t, size_t event,
		      const uint64_t *values, bool has_values, bool has_ratio)
{
	struct report_scale scale = scale_of(v, event);
	char s[TEXT_MAX];

	for (size_t i = 0; i < v->comparison.n_sources; i++) {
		struct pair pair = pair_of(v, event, i);

		if (has_values)
			report_table_cell(
				t, report_value_text(s, values[pair.after], &scale));
		if (i)
			put_change(v, t, pair, values, &scale, has_ratio);
	}
}

static void put_values(const struct row_view *v, struct report_table *t, size_t n_events,
		       const struct detail *d, const uint64_t *exclusive,
		       const uint64_t *inclusive)
{
	for (size_t i = 0; i < n_events; i++) {
		put_group(v, t, i, exclusive, true, d->has_ratio);
		if (grouping_has_inclusive(v->g) && d->has_inclusive_change)
			put_group(v, t, i, inclusive, d->has_inclusive, d->has_ratio);
	}
}

static void put_total(const struct row_view *v, struct report_table *t, size_t n_events,
		      const struct detail *d)
{
	own(freep) uint64_t *totals = xcalloc(v->m->n_columns + 1, sizeof(*totals));

	for (size_t i = 0; i < v->m->n_columns; i++)
		totals[i] = row_view_total(v, i);
	report_table_row(t, false);
	put_values(v, t, n_events, d, totals, totals);
	report_table_cell(t, "<total>");
}

static bool is_large(const struct row_view *v, size_t row)
{
	struct pair pair = pair_of(v, order_event(v), 1);
	struct comparison_change c = change_of(v, pair, row_view_values(v, row, false));

	return !c.is_chance && (uint64_t)llabs(c.delta) * 100 >=
				       LARGE_PCT * row_view_total(v, pair.before);
}

static struct report_table *make_table(const struct row_view *v, size_t n_events,
				       const struct detail *d)
{
	struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);

	add_titles(v, t, n_events, d);
	put_total(v, t, n_events, d);
	for (size_t i = 0; i < v->n_shown; i++) {
		size_t row = v->rows[i].id;

		report_table_row(t, is_large(v, row));
		put_values(v, t, n_events, d, row_view_values(v, row, false),
			   row_view_values(v, row, true));
		row_view_put_names(v, t, row);
	}
	return t;
}

/* Most events first, each with the most that then fits; *n_events is how many do. */
static struct report_table *fit_table(const struct row_view *v, size_t *n_events)
{
	for (*n_events = v->comparison.n_events; *n_events; --*n_events) {
		for (size_t i = 0; i < N_DETAILS; i++) {
			struct report_table *t = make_table(v, *n_events, &details[i]);

			if (report_table_numbers_width(t) + LEAST_NAMES <= v->r->width)
				return t;
			report_table_free(t);
		}
	}
	*n_events = 1;
	return make_table(v, 1, &details[N_DETAILS - 1]);
}

static bool has_chance(const struct row_view *v)
{
	for (size_t i = 0; i < v->n_shown; i++)
		for (size_t k = 1; k < v->comparison.n_sources; k++)
			if (change_of(v, pair_of(v, 0, k),
				      row_view_values(v, v->rows[i].id, false))
				    .is_chance)
				return true;
	return false;
}

static void put_rest(const struct row_view *v, FILE *out)
{
	struct pair pair = pair_of(v, order_event(v), 1);
	struct report_scale scale = scale_of(v, order_event(v));
	char count[TEXT_MAX], change[TEXT_MAX];
	int64_t sum = 0;

	for (size_t i = v->n_shown; i < v->m->n_rows; i++)
		sum += change_of(v, pair, row_view_values(v, v->rows[i].id, false)).delta;
	if (v->n_nonzero > v->n_shown)
		fprintf(out, "… %s more with %s in all (--limit 0 shows all)\n",
			text_count(count, v->n_nonzero - v->n_shown),
			report_value_change(change, sum, &scale));
}

void compare_table_print(const struct row_view *v, FILE *out)
{
	size_t n_events;
	own(report_table_freep) struct report_table *t = fit_table(v, &n_events);

	report_table_print(t, out);
	put_rest(v, out);
	if (n_events < v->comparison.n_events)
		fprintf(out, "… %zu more events do not fit: use --width or --event\n",
			v->comparison.n_events - n_events);
	if (has_chance(v))
		fputs("~ so few samples may differ as much by chance (two standard "
		      "errors)\n",
		      out);
}

struct json_field {
	const char *key;
	bool is_inclusive, is_ratio;
};

static void put_json_field(const struct row_view *v, struct json *j, size_t row,
			   const struct json_field *f)
{
	const uint64_t *values = row_view_values(v, row, f->is_inclusive);

	json_key(j, f->key);
	json_object(j);
	for (size_t e = 0; e < v->comparison.n_events; e++) {
		for (size_t i = 1; i < v->comparison.n_sources; i++) {
			struct pair pair = pair_of(v, e, i);
			struct comparison_change c = change_of(v, pair, values);

			report_json_event(j, v->r, pair.after);
			if (f->is_ratio)
				json_double(j, c.ratio);
			else
				json_i64(j, c.delta);
		}
	}
	json_object_end(j);
}

static void put_json_chance(const struct row_view *v, struct json *j, size_t row)
{
	json_key(j, "exclusive_chance");
	json_object(j);
	for (size_t e = 0; e < v->comparison.n_events; e++) {
		for (size_t i = 1; i < v->comparison.n_sources; i++) {
			struct pair pair = pair_of(v, e, i);

			report_json_event(j, v->r, pair.after);
			json_bool(j, change_of(v, pair, row_view_values(v, row, false))
					     .is_chance);
		}
	}
	json_object_end(j);
}

void compare_table_json(const struct row_view *v, struct json *j, size_t row)
{
	static const struct json_field fields[] = {
		{ "exclusive_change", false, false },
		{ "exclusive_ratio", false, true },
		{ "inclusive_change", true, false },
		{ "inclusive_ratio", true, true },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		put_json_field(v, j, row, &fields[i]);
	put_json_chance(v, j, row);
}
