/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/metrics.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "cmd/report_profile.h"
#include "cmd/report_quality.h"
#include "cmd/report_table.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"

enum { BY_NAME = 2 };

/* What is attributed has no other order: the first two choose an event only. */
static const char *const orders[] = { "exclusive", "inclusive", [BY_NAME] = "name",
				      NULL };
static const struct report_rows edge_rows = { .orders = orders, .limit = 15 };

struct view {
	const struct report *r;
	uint32_t function;
	struct metrics_butterfly b;
};

static const char *name_of(const struct view *v, uint32_t function)
{
	return function == METRICS_TOTAL
		       ? "<total>"
		       : profile_function(v->r->profile, function)->label;
}

static const char *image_of(const struct view *v, uint32_t function)
{
	return function == METRICS_TOTAL
		       ? ""
		       : profile_function(v->r->profile, function)->image;
}

/* The edges in order; returns how many are shown. */
static size_t order_edges(const struct view *v, const struct metrics_edge *edges,
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
		for (size_t c = 0; c < v->b.n_columns; c++)
			rows[i].tie |= edges[i].values[c];
	}
	o.total = v->b.inclusive[v->r->sort_column];
	o.by_name = v->r->order == BY_NAME;
	*ret = rows;
	return ranking_order(rows, n, &o);
}

static void put_values(const struct view *v, struct report_table *t,
		       const uint64_t *values)
{
	char s[TEXT_MAX];

	for (size_t i = 0; i < v->r->n_shown; i++) {
		size_t c = v->r->shown[i];
		const struct profile_column *column = profile_column(v->r->profile, c);
		struct report_scale scale =
			report_value_scale(column->total_weight, column->unit);

		report_table_cell(t, report_value_text(s, values[c], &scale));
		report_table_cell(t, report_value_pct(s, values[c], v->b.inclusive[c]));
	}
}

static void put_line(const struct view *v, struct report_table *t, const char *role,
		     const uint64_t *values, const char *name, const char *image)
{
	put_values(v, t, values);
	report_table_cell(t, role);
	report_table_cell(t, name);
	report_table_cell(t, image);
}

static void put_edges(const struct view *v, struct report_table *t, const char *role,
		      const struct metrics_edge *edges, size_t n)
{
	own(freep) struct ranking_row *rows = NULL;
	size_t shown = order_edges(v, edges, n, &rows);
	own(freep) uint64_t *rest = xcalloc(v->b.n_columns + 1, sizeof(*rest));
	char text[60], count[TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		const struct metrics_edge *edge = &edges[rows[i].id];

		if (i < shown) {
			report_table_row(t, false);
			put_line(v, t, role, edge->values, name_of(v, edge->function),
				 image_of(v, edge->function));
			continue;
		}
		for (size_t c = 0; c < v->b.n_columns; c++)
			rest[c] += edge->values[c];
	}
	if (shown == n)
		return;
	snprintf(text, sizeof(text), "… %s more", text_count(count, n - shown));
	report_table_row(t, false);
	put_line(v, t, role, rest, text, "");
}

static void add_titles(const struct view *v, struct report_table *t)
{
	for (size_t i = 0; i < v->r->n_shown; i++) {
		own(buf_fini) struct buf name = { 0 };

		report_text_column(v->r, v->r->shown[i], &name);
		report_table_number(t, buf_str(&name));
		report_table_number(t, "%");
	}
	report_table_name(t, "", 1);
	report_table_name(t, "Function", 6);
	report_table_name(t, "Image", 2);
}

static void print_text(const struct view *v, const char *others, FILE *out)
{
	own(report_table_freep) struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);
	const char *name = name_of(v, v->function), *image = image_of(v, v->function);

	report_head_print(v->r, out);
	if (others[0])
		fprintf(out, "Also matching, not shown: %s\n\n", others);
	add_titles(v, t);
	put_edges(v, t, "caller", v->b.callers, v->b.n_callers);
	report_table_row(t, true);
	put_line(v, t, "▶", v->b.inclusive, name, image);
	report_table_row(t, false);
	put_line(v, t, "itself", v->b.exclusive, name, image);
	put_edges(v, t, "callee", v->b.callees, v->b.n_callees);
	report_table_print(t, out);
	report_quality_print(v->r, out);
}

static void put_json_edges(struct json *j, const struct view *v, const char *key,
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

static void print_json(const struct view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, "callers", out);
	json_object(&j);
	report_json_function(&j, v->r, v->function);
	report_json_values(&j, v->r, "exclusive", v->b.exclusive);
	report_json_values(&j, v->r, "inclusive", v->b.inclusive);
	put_json_edges(&j, v, "callers", v->b.callers, v->b.n_callers);
	put_json_edges(&j, v, "callees", v->b.callees, v->b.n_callees);
	json_object_end(&j);
	report_json_end(&j, v->r);
}

static int run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	struct view v = { .r = &r };
	struct report_function f;
	int rc = report_profile_open_function(o, "callers", &edge_rows, &r, &f, e);

	if (rc != 0)
		return rc;
	v.function = f.id;
	metrics_attribute(&v.b, r.profile, v.function);
	if (r.json)
		print_json(&v, stdout);
	else
		print_text(&v, f.others, stdout);
	metrics_butterfly_fini(&v.b);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = { report_options_sort,
						    report_options_rows,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell callers malloc", "who calls malloc, and what it calls" },
	{ NULL, NULL },
};

const struct command cmd_callers = {
	.name = "callers",
	.usage = "[options] FUNCTION [RECORDING…]",
	.summary =
		"Show a function's callers and callees with what is attributed to each",
	.description =
		"The callers' values add up to the function's inclusive value; so do its "
		"own (exclusive) value and those of its callees. Per stack the innermost "
		"occurrence of the function decides, so that in recursion a function can "
		"be its own caller. <total> stands for no caller.\n\n"
		"FUNCTION is a whole name, a name without its parameters, a linkage "
		"name, or a part of a name, with … for anything as reports shorten them; "
		"of several the heaviest is shown and the others are named.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
