/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/callers_view.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/event_fit.h"
#include "cmd/report_json.h"
#include "cmd/report_table.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"

#define LEAST_NAMES 34 /* what numbers leave to roles and names at least */

void callers_view_init(struct callers_view *v, const struct report *r, uint32_t function)
{
	*v = (struct callers_view){ .r = r, .function = function };
	metrics_attribute(&v->b, r->profile, function);
}

void callers_view_fini(struct callers_view *v)
{
	metrics_butterfly_fini(&v->b);
}

static const char *name_of(const struct callers_view *v, uint32_t function)
{
	return function == METRICS_TOTAL
		       ? "<total>"
		       : profile_function(v->r->profile, function)->label;
}

static const char *image_of(const struct callers_view *v, uint32_t function)
{
	return function == METRICS_TOTAL
		       ? ""
		       : report_text_image(profile_function(v->r->profile, function));
}

/* Of the events that are told. */
static bool has_any(const struct callers_view *v, const uint64_t *values)
{
	size_t n = v->n_events ? v->n_events : v->b.n_columns;

	for (size_t i = 0; i < n; i++)
		if (values[v->n_events ? v->r->shown[i] : i])
			return true;
	return false;
}

/* The edges in order; returns how many are shown. */
static size_t order_edges(const struct callers_view *v, const struct metrics_edge *edges,
			  size_t n, struct ranking_row **ret)
{
	struct ranking_options o = v->r->ranking;
	struct ranking_row *rows = xcalloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct ranking_row){
			.id = i,
			.value = edges[i].values[v->r->sort_column],
			.name = name_of(v, edges[i].function),
		};
		rows[i].tie = has_any(v, edges[i].values);
	}
	o.total = v->b.inclusive[v->r->sort_column];
	o.by_name = v->r->order == CALLERS_VIEW_BY_NAME;
	*ret = rows;
	return ranking_order(rows, n, &o);
}

static void put_values(const struct callers_view *v, struct report_table *t,
		       const uint64_t *values)
{
	char s[TEXT_MAX];

	for (size_t i = 0; i < v->n_events; i++) {
		size_t c = v->r->shown[i];
		const struct profile_column *column = profile_column(v->r->profile, c);
		struct report_scale scale =
			report_value_scale(column->total_weight, column->unit);

		report_table_cell(t, report_value_text(s, values[c], &scale));
		report_table_cell(t, report_value_pct(s, values[c], v->b.inclusive[c]));
	}
}

static void put_line(const struct callers_view *v, struct report_table *t,
		     const char *role, const uint64_t *values, const char *name,
		     const char *image)
{
	put_values(v, t, values);
	report_table_cell(t, role);
	report_table_cell(t, name);
	report_table_cell(t, image);
}

static void put_edges(struct callers_view *v, struct report_table *t, const char *role,
		      const struct metrics_edge *edges, size_t n)
{
	own(freep) struct ranking_row *rows = NULL;
	size_t shown = order_edges(v, edges, n, &rows);
	own(freep) uint64_t *rest = xcalloc(v->b.n_columns + 1, sizeof(*rest));
	char text[60], count[TEXT_MAX];
	size_t n_rest = 0;

	for (size_t i = 0; i < n; i++) {
		const struct metrics_edge *edge = &edges[rows[i].id];

		if (i < shown) {
			report_table_row(t, false);
			put_line(v, t, role, edge->values, name_of(v, edge->function),
				 image_of(v, edge->function));
			continue;
		}
		if (!has_any(v, edge->values)) {
			v->n_others++;
			continue;
		}
		n_rest++;
		for (size_t c = 0; c < v->b.n_columns; c++)
			rest[c] += edge->values[c];
	}
	if (!n_rest)
		return;
	snprintf(text, sizeof(text), "… %s more", text_count(count, n_rest));
	report_table_row(t, false);
	put_line(v, t, role, rest, text, "");
}

static void add_titles(const struct callers_view *v, struct report_table *t)
{
	for (size_t i = 0; i < v->n_events; i++) {
		own(buf_fini) struct buf name = { 0 };

		report_text_column(v->r, v->r->shown[i], &name);
		report_table_number(t, buf_str(&name));
		report_table_number(t, "%");
	}
	report_table_name(t, "", 1);
	report_table_name(t, "Function", 6);
	report_table_name(t, "Image", 2);
}

static struct report_table *begin_table(struct callers_view *v, size_t n_events)
{
	struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);

	v->n_events = n_events;
	add_titles(v, t);
	return t;
}

/* Nothing is more than the function's own sums. */
static struct report_table *widest_table(void *view, size_t n_events)
{
	struct callers_view *v = view;
	struct report_table *t = begin_table(v, n_events);

	report_table_row(t, true);
	put_line(v, t, "", v->b.inclusive, "", "");
	return t;
}

void callers_view_print(struct callers_view *v, FILE *out)
{
	size_t n_events = event_fit(v->r, LEAST_NAMES, widest_table, v);
	own(report_table_freep) struct report_table *t = begin_table(v, n_events);
	const char *name = name_of(v, v->function), *image = image_of(v, v->function);

	put_edges(v, t, "caller", v->b.callers, v->b.n_callers);
	report_table_row(t, true);
	put_line(v, t, "▶", v->b.inclusive, name, image);
	report_table_row(t, false);
	put_line(v, t, "itself", v->b.exclusive, name, image);
	put_edges(v, t, "callee", v->b.callees, v->b.n_callees);
	report_table_print(t, out);
	event_fit_print_rest(v->r, n_events, v->n_others, out);
}

static void put_json_edges(struct json *j, const struct callers_view *v, const char *key,
			   const struct metrics_edge *edges, size_t n)
{
	own(freep) struct ranking_row *rows = NULL;
	size_t shown = order_edges(v, edges, n, &rows);

	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < shown; i++) {
		const struct metrics_edge *edge = &edges[rows[i].id];

		json_object(j);
		json_key_str(j, "name", name_of(v, edge->function));
		json_key_str(j, "image", image_of(v, edge->function));
		report_json_values(j, v->r, "attributed", edge->values);
		json_object_end(j);
	}
	json_array_end(j);
}

void callers_view_json(const struct callers_view *v, struct json *j)
{
	report_json_values(j, v->r, "exclusive", v->b.exclusive);
	report_json_values(j, v->r, "inclusive", v->b.inclusive);
	put_json_edges(j, v, "callers", v->b.callers, v->b.n_callers);
	put_json_edges(j, v, "callees", v->b.callees, v->b.n_callees);
}
