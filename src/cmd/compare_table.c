/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/compare_table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/event_fit.h"
#include "cmd/report_text.h"
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

static struct compare_cells cells_of(const struct row_view *v, size_t event)
{
	return (struct compare_cells){ .r = v->r,
				       .comparison = &v->comparison,
				       .event = event,
				       .has_values = true,
				       .has_ratio = true };
}

struct compare_cells compare_table_cells(const struct row_view *v)
{
	size_t event = 0;

	for (size_t i = 0; i < v->comparison.n_events; i++)
		if (comparison_column(&v->comparison, i, 0) == v->r->sort_column)
			event = i;
	return cells_of(v, event);
}

static void add_titles(const struct row_view *v, struct report_table *t, size_t n_events,
		       const struct detail *d)
{
	for (size_t i = 0; i < n_events; i++) {
		size_t column = comparison_column(&v->comparison, i, 0);
		const char *name = profile_column(v->r->profile, column)->name;
		bool has_inclusive = grouping_has_inclusive(v->g);
		struct compare_cells c = cells_of(v, i);

		c.has_ratio = d->has_ratio;
		compare_cells_titles(&c, t,
				     v->comparison.n_events > 1 ? name
				     : has_inclusive		? "Exclusive"
								: "");
		c.has_values = d->has_inclusive;
		if (has_inclusive && d->has_inclusive_change)
			compare_cells_titles(&c, t, "Inclusive");
	}
	row_view_add_names(v, t);
}

static void put_values(const struct row_view *v, struct report_table *t, size_t n_events,
		       const struct detail *d, const uint64_t *exclusive,
		       const uint64_t *inclusive)
{
	for (size_t i = 0; i < n_events; i++) {
		struct compare_cells c = cells_of(v, i);

		c.has_ratio = d->has_ratio;
		compare_cells_put(&c, t, exclusive);
		c.has_values = d->has_inclusive;
		if (grouping_has_inclusive(v->g) && d->has_inclusive_change)
			compare_cells_put(&c, t, inclusive);
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
	struct compare_cells c = compare_table_cells(v);
	struct comparison_change change =
		compare_cells_change(&c, 1, row_view_values(v, row, false));
	size_t before = comparison_column(&v->comparison, c.event, 0);

	return !change.is_chance && (uint64_t)llabs(change.delta) * 100 >=
					    LARGE_PCT * row_view_total(v, before);
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
	for (*n_events = v->n_events; *n_events; --*n_events) {
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
	struct compare_cells c = cells_of(v, 0);

	for (size_t i = 0; i < v->n_shown; i++)
		if (compare_cells_is_chance(&c, row_view_values(v, v->rows[i].id, false)))
			return true;
	return false;
}

static void put_rest(const struct row_view *v, FILE *out)
{
	struct compare_cells c = compare_table_cells(v);
	const struct profile_column *column = profile_column(
		v->r->profile, comparison_column(&v->comparison, c.event, 0));
	struct report_scale scale =
		report_value_scale(column->total_weight, column->unit);
	char count[TEXT_MAX], change[TEXT_MAX];
	int64_t sum = 0;

	for (size_t i = v->n_shown; i < v->m->n_rows; i++)
		sum += compare_cells_change(&c, 1,
					    row_view_values(v, v->rows[i].id, false))
			       .delta;
	if (v->n_nonzero > v->n_shown)
		fprintf(out, "… %s more with %s in all (--limit 0 shows all)\n",
			text_count(count, v->n_nonzero - v->n_shown),
			report_value_change(change, sum, &scale));
}

static void put_others(const struct row_view *v, size_t n_events, size_t n_rows,
		       FILE *out)
{
	const struct comparison *c = &v->comparison;
	own(buf_fini) struct buf names = { 0 };

	for (size_t i = n_events; i < c->n_events; i++) {
		size_t column = comparison_column(c, i, 0);

		buf_puts(&names, names.size ? ", " : "");
		report_text_safe(&names, profile_column(v->r->profile, column)->name);
	}
	event_fit_print_names(v->r, c->n_events - n_events, buf_str(&names), n_rows, out);
}

size_t compare_table_n_events(const struct row_view *v)
{
	size_t n_events;

	report_table_free(fit_table(v, &n_events));
	return n_events;
}

void compare_table_print(const struct row_view *v, size_t n_others, FILE *out)
{
	struct compare_cells cells = compare_table_cells(v);
	size_t n_events;
	own(report_table_freep) struct report_table *t = fit_table(v, &n_events);

	report_table_print(t, out);
	put_rest(v, out);
	put_others(v, n_events, n_others, out);
	compare_cells_print_notes(&cells, has_chance(v), out);
}
