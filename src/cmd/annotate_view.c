/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/annotate_view.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/event_fit.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"

#define HOT_PCT 10 /* of the function: marked and bold */

#define LEAST_TEXT 34 /* what numbers leave to addresses and code at least */

static struct report_table *widest_table(void *view, size_t n_events)
{
	struct annotate_view *v = view;
	struct report_table *t;

	v->n_events = n_events;
	t = annotate_view_table(v, "", "");
	annotate_view_row(v, t, v->totals.inclusive, v->totals.inclusive, "", "");
	return t;
}

void annotate_view_init(struct annotate_view *v, const struct report *r,
			uint32_t function)
{
	*v = (struct annotate_view){ .r = r, .function = function };
	listing_make(&v->listing, r->profile, function);
	metrics_attribute(&v->totals, r->profile, function);
	v->n_events = event_fit(r, LEAST_TEXT, widest_table, v);
}

void annotate_view_fini(struct annotate_view *v)
{
	listing_fini(&v->listing);
	metrics_butterfly_fini(&v->totals);
}

/* One event has room for its values; several are shown as shares. */
static bool has_values(const struct annotate_view *v)
{
	return v->n_events == 1;
}

/* Where there is one event only, the head has said which. */
static bool is_named(const struct annotate_view *v)
{
	return v->r->n_shown > 1 || v->r->leaves_events_out;
}

struct report_table *annotate_view_table(const struct annotate_view *v, const char *at,
					 const char *text)
{
	struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);

	if (v->cells)
		compare_cells_titles(v->cells, t, "Inclusive");
	for (size_t i = 0; i < v->n_events && !v->cells; i++) {
		own(buf_fini) struct buf name = { 0 };

		if (is_named(v))
			report_text_column(v->r, v->r->shown[i], &name);
		buf_puts(&name, "\nExcl.");
		report_table_number(t, buf_str(&name) + !is_named(v));
		if (has_values(v))
			report_table_number(t, "%");
		report_table_number(t, "Incl.");
	}
	report_table_number(t, at);
	report_table_text(t, text, 1);
	return t;
}

static bool is_hot(const struct annotate_view *v, const uint64_t *exclusive)
{
	for (size_t c = 0; c < v->totals.n_columns; c++)
		if (exclusive[c] &&
		    exclusive[c] * 100 >= v->totals.inclusive[c] * HOT_PCT)
			return true;
	return false;
}

void annotate_view_row(const struct annotate_view *v, struct report_table *t,
		       const uint64_t *exclusive, const uint64_t *inclusive,
		       const char *at, const char *text)
{
	bool hot = exclusive && is_hot(v, exclusive);
	own(buf_fini) struct buf line = { 0 };
	char s[TEXT_MAX];

	report_table_row(t, hot);
	if (v->cells)
		compare_cells_put(v->cells, t, inclusive);
	for (size_t i = 0; i < v->n_events && !v->cells; i++) {
		size_t c = v->r->shown[i];
		const struct profile_column *column = profile_column(v->r->profile, c);
		struct report_scale scale =
			report_value_scale(v->totals.inclusive[c], column->unit);
		uint64_t whole = v->totals.inclusive[c];
		uint64_t itself = exclusive ? exclusive[c] : 0;
		uint64_t with_callees = inclusive ? inclusive[c] : 0;
		bool has_any = itself || with_callees;

		if (has_values(v))
			report_table_cell(
				t, has_any ? report_value_text(s, itself, &scale) : "");
		report_table_cell(t, has_any ? report_value_pct(s, itself, whole) : "");
		report_table_cell(t, has_any ? report_value_pct(s, with_callees, whole)
					     : "");
	}
	report_table_cell(t, at);
	buf_printf(&line, "%s %s", hot ? "▶" : " ", text);
	report_table_cell(t, buf_str(&line));
}

void annotate_view_gap(const struct annotate_view *v, struct report_table *t, size_t n)
{
	char text[60], count[TEXT_MAX];

	snprintf(text, sizeof(text), "⋮ %s more without samples", text_count(count, n));
	annotate_view_row(v, t, NULL, NULL, "", text);
}
