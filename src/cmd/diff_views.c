/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/diff_views.h"

#include <stdio.h>

#include "analyze/metrics.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/annotate_source.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/tree_view.h"

#define MANY_LEVELS 60	/* of calls */
#define WIDE	    100 /* leaves room for ratios beside a tree */

struct callers {
	const struct compare_cells *cells;
	const struct report *r;
	uint32_t function;
	struct metrics_butterfly b;
};

static const struct profile_function *function_of(const struct callers *v, uint32_t id)
{
	return id == METRICS_TOTAL ? NULL : profile_function(v->r->profile, id);
}

static const char *name_of(const struct callers *v, uint32_t id)
{
	return id == METRICS_TOTAL ? "<total>" : function_of(v, id)->label;
}

static const char *image_of(const struct callers *v, uint32_t id)
{
	return id == METRICS_TOTAL ? "" : function_of(v, id)->image;
}

/* The largest change first; what has none, by what it has. */
static size_t order_edges(const struct callers *v, const struct metrics_edge *edges,
			  size_t n, struct ranking_row **ret)
{
	struct ranking_options o = { .limit = v->r->ranking.limit };
	struct ranking_row *rows = xcalloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct ranking_row){
			.id = i,
			.value = compare_cells_weight(v->cells, edges[i].values, false),
			.name = name_of(v, edges[i].function),
		};
		for (size_t c = 0; c < v->b.n_columns; c++)
			if (edges[i].values[c] > rows[i].tie)
				rows[i].tie = edges[i].values[c];
	}
	*ret = rows;
	return ranking_order(rows, n, &o);
}

static void put_line(const struct callers *v, struct report_table *t, const char *role,
		     const uint64_t *values, uint32_t function)
{
	report_table_row(t, values == v->b.inclusive);
	compare_cells_put(v->cells, t, values);
	report_table_cell(t, role);
	report_table_cell(t, name_of(v, function));
	report_table_cell(t, image_of(v, function));
}

static void put_edges(const struct callers *v, struct report_table *t, const char *role,
		      const struct metrics_edge *edges, size_t n)
{
	own(freep) struct ranking_row *rows = NULL;
	size_t shown = order_edges(v, edges, n, &rows);

	for (size_t i = 0; i < shown; i++)
		put_line(v, t, role, edges[rows[i].id].values,
			 edges[rows[i].id].function);
}

static bool has_chance(const struct callers *v)
{
	bool has = compare_cells_is_chance(v->cells, v->b.inclusive) ||
		   compare_cells_is_chance(v->cells, v->b.exclusive);

	for (size_t i = 0; i < v->b.n_callers && !has; i++)
		has = compare_cells_is_chance(v->cells, v->b.callers[i].values);
	for (size_t i = 0; i < v->b.n_callees && !has; i++)
		has = compare_cells_is_chance(v->cells, v->b.callees[i].values);
	return has;
}

static void print_callers(const struct callers *v, const char *others, FILE *out)
{
	own(report_table_freep) struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);

	report_head_print(v->r, out);
	report_text_others(v->r, others, out);
	compare_cells_titles(v->cells, t, "Attributed");
	report_table_name(t, "", 1);
	report_table_name(t, "Function", 6);
	report_table_name(t, "Image", 2);
	put_edges(v, t, "caller", v->b.callers, v->b.n_callers);
	put_line(v, t, "▶", v->b.inclusive, v->function);
	put_line(v, t, "itself", v->b.exclusive, v->function);
	put_edges(v, t, "callee", v->b.callees, v->b.n_callees);
	report_table_print(t, out);
	compare_cells_print_notes(v->cells, has_chance(v), out);
	report_quality_print(v->r, out);
}

static void put_json_edges(struct json *j, const struct callers *v, const char *key,
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
		compare_cells_json(v->cells, j, "attributed", edge->values);
		json_object_end(j);
	}
	json_array_end(j);
}

static void print_callers_json(const struct callers *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, "diff-callers", out);
	json_object(&j);
	report_json_function(&j, v->r, v->function);
	report_json_values(&j, v->r, "exclusive", v->b.exclusive);
	report_json_values(&j, v->r, "inclusive", v->b.inclusive);
	compare_cells_json(v->cells, &j, "exclusive", v->b.exclusive);
	compare_cells_json(v->cells, &j, "inclusive", v->b.inclusive);
	put_json_edges(&j, v, "callers", v->b.callers, v->b.n_callers);
	put_json_edges(&j, v, "callees", v->b.callees, v->b.n_callees);
	json_object_end(&j);
	report_json_end(&j, v->r);
}

void diff_views_callers(const struct compare_cells *c, uint32_t function,
			const char *others)
{
	struct callers v = { .cells = c, .r = c->r, .function = function };

	metrics_attribute(&v.b, c->r->profile, function);
	if (c->r->json)
		print_callers_json(&v, stdout);
	else
		print_callers(&v, others, stdout);
	metrics_butterfly_fini(&v.b);
}

void diff_views_tree(const struct compare_cells *c, double min_pct)
{
	struct compare_cells cells = *c;
	struct tree_view v = { .r = c->r, .cells = &cells };
	struct calltree_options o = { .function = MODEL_NONE,
				      .column = c->r->sort_column,
				      .min_share = min_pct / 100,
				      .max_depth = MANY_LEVELS };

	cells.has_ratio = c->r->width >= WIDE;
	tree_view_build(&v, &o);
	if (c->r->json)
		tree_view_json(&v, stdout);
	else
		tree_view_print(&v, "", stdout);
	calltree_fini(&v.tree);
}

static void print_lines(const struct annotate_view *v, const char *others, FILE *out)
{
	const struct profile_function *f = profile_function(v->r->profile, v->function);
	char name[1000], image[300];

	report_head_print(v->r, out);
	fprintf(out, "%s (%s)\n\n", text_printable(name, sizeof(name), f->label),
		text_printable(image, sizeof(image), f->image));
	report_text_others(v->r, others, out);
	annotate_source_print(v, out);
	compare_cells_print_notes(v->cells, true, out);
	report_quality_print(v->r, out);
}

static void print_lines_json(const struct annotate_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, "diff-annotate", out);
	json_object(&j);
	report_json_function(&j, v->r, v->function);
	report_json_values(&j, v->r, "exclusive", v->totals.exclusive);
	report_json_values(&j, v->r, "inclusive", v->totals.inclusive);
	annotate_source_json(v, &j);
	json_object_end(&j);
	report_json_end(&j, v->r);
}

void diff_views_annotate(const struct compare_cells *c, uint32_t function,
			 const char *others)
{
	struct annotate_view v;

	annotate_view_init(&v, c->r, function);
	v.cells = c;
	if (c->r->json)
		print_lines_json(&v, stdout);
	else
		print_lines(&v, others, stdout);
	annotate_view_fini(&v);
}
