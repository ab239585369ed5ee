/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/tree_view.h"

#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/event_fit.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"

static const uint64_t *inclusive_of(const struct tree_view *v, uint32_t node)
{
	return v->tree.inclusive + node * v->tree.n_columns;
}

static const uint64_t *exclusive_of(const struct tree_view *v, uint32_t node)
{
	return v->tree.exclusive + node * v->tree.n_columns;
}

static const char *name_of(const struct tree_view *v, uint32_t node)
{
	uint32_t f = v->tree.nodes[node].function;

	return f == MODEL_NONE ? "<total>" : profile_function(v->r->profile, f)->label;
}

static void put_numbers(const struct tree_view *v, const uint64_t *inclusive,
			const uint64_t *exclusive)
{
	char s[TEXT_MAX];

	if (v->cells) {
		compare_cells_put(v->cells, v->table, inclusive);
		return;
	}
	for (size_t i = 0; i < v->n_events; i++) {
		size_t c = v->r->shown[i];
		const struct profile_column *column = profile_column(v->r->profile, c);
		struct report_scale scale =
			report_value_scale(column->total_weight, column->unit);

		report_table_cell(v->table, report_value_text(s, inclusive[c], &scale));
		report_table_cell(v->table, report_value_pct(s, inclusive[c],
							     column->total_weight));
		if (!v->bottom_up)
			report_table_cell(
				v->table,
				report_value_pct(s, exclusive[c], column->total_weight));
	}
}

static void put_node(struct tree_view *v, uint32_t id, const char *branch)
{
	const struct calltree_node *n = &v->tree.nodes[id];
	own(buf_fini) struct buf before = { 0 }, after = { 0 };

	buf_printf(&before, "%s%s%s", buf_str(&v->guides), branch,
		   n->is_inlined ? "↳ " : "");
	if (n->n_folded)
		buf_printf(&after, " (recursive, %u deep)", n->n_folded + 1);
	report_table_row(v->table, false);
	put_numbers(v, inclusive_of(v, id), exclusive_of(v, id));
	report_table_decorated(v->table, buf_str(&before), name_of(v, id),
			       buf_str(&after));
	report_table_cell(v->table, n->function == MODEL_NONE
					    ? ""
					    : report_text_image(profile_function(
						      v->r->profile, n->function)));
}

/* The children that were not opened are one line. */
static void put_hidden(struct tree_view *v, uint32_t id)
{
	const struct calltree_node *n = &v->tree.nodes[id];
	size_t n_columns = v->tree.n_columns;
	own(freep) uint64_t *zero = xcalloc(n_columns + 1, sizeof(*zero));
	own(buf_fini) struct buf text = { 0 };
	char others[TEXT_MAX];

	buf_printf(&text, "%s└ … %s", buf_str(&v->guides),
		   text_number(others, n->n_hidden, "others"));
	report_table_row(v->table, false);
	put_numbers(v, v->tree.hidden + id * n_columns, zero);
	report_table_cell(v->table, buf_str(&text));
	report_table_cell(v->table, "");
}

/* A chain of only children stays in its column: a call that branches nowhere and costs
 * nothing itself says nothing by being indented. */
static bool is_chain(const struct tree_view *v, uint32_t id)
{
	const struct calltree_node *n = &v->tree.nodes[id];

	if (n->n_children != 1 || n->n_hidden || id == 0)
		return false;
	for (size_t c = 0; c < v->tree.n_columns; c++) {
		uint64_t total = profile_column(v->r->profile, c)->total_weight;

		if (exclusive_of(v, id)[c] * 1000 > total)
			return false;
	}
	return true;
}

static void put_children(struct tree_view *v, uint32_t id);

static void put_subtree(struct tree_view *v, uint32_t id, const char *branch,
			const char *guide)
{
	size_t before = v->guides.size;

	put_node(v, id, branch);
	buf_puts(&v->guides, guide);
	while (is_chain(v, id)) {
		id = v->tree.nodes[id].first_child;
		put_node(v, id, "");
	}
	put_children(v, id);
	v->guides.size = before;
}

/* The rest of a branch that has no room left to its right. */
static void put_deeper(struct tree_view *v, uint32_t id)
{
	size_t n_columns = v->tree.n_columns;
	own(freep) uint64_t *rest = xcalloc(n_columns + 1, sizeof(*rest));
	own(freep) uint64_t *zero = xcalloc(n_columns + 1, sizeof(*zero));
	own(buf_fini) struct buf text = { 0 };

	for (size_t c = 0; c < n_columns; c++)
		rest[c] = inclusive_of(v, id)[c] - exclusive_of(v, id)[c];
	buf_printf(&text, "%s└ … dwell tree ", buf_str(&v->guides));
	report_table_row(v->table, false);
	put_numbers(v, rest, zero);
	report_table_decorated(v->table, buf_str(&text), name_of(v, id), "");
	report_table_cell(v->table, "");
}

static void put_children(struct tree_view *v, uint32_t id)
{
	const struct calltree_node *n = &v->tree.nodes[id];

	if (n->n_children && text_width(buf_str(&v->guides)) >= v->r->width / 4) {
		put_deeper(v, id);
		return;
	}
	for (uint32_t i = 0; i < n->n_children; i++) {
		bool is_last = i + 1 == n->n_children && !n->n_hidden;

		put_subtree(v, n->first_child + i, is_last ? "└ " : "├ ",
			    is_last ? "  " : "│ ");
	}
	if (n->n_hidden)
		put_hidden(v, id);
}

static void add_titles(const struct tree_view *v)
{
	if (v->cells)
		compare_cells_titles(v->cells, v->table, "Inclusive");
	for (size_t i = 0; i < v->n_events && !v->cells; i++) {
		own(buf_fini) struct buf name = { 0 };

		report_text_column(v->r, v->r->shown[i], &name);
		report_table_number(v->table, buf_str(&name));
		report_table_number(v->table, "%");
		if (!v->bottom_up)
			report_table_number(v->table, "Excl.");
	}
	report_table_name(v->table,
			  v->cells	 ? "Function, calls below"
			  : v->bottom_up ? "Function, its callers below (↳ inlined)"
					 : "Function, its calls below (↳ inlined)",
			  5);
	report_table_name(v->table, "Image", 2);
}

static bool has_chance(const struct tree_view *v)
{
	for (uint32_t i = 0; i < v->tree.n_nodes; i++)
		if (compare_cells_is_chance(v->cells, inclusive_of(v, i)))
			return true;
	return false;
}

static void begin_table(struct tree_view *v)
{
	v->table = report_table_new(v->r->width, command_terminal()->colour);
	add_titles(v);
	put_node(v, 0, "");
}

/* As far as the root, whose numbers are the widest. */
static struct report_table *first_row(void *view, size_t n_events)
{
	struct tree_view *v = view;

	v->n_events = n_events;
	begin_table(v);
	return v->table;
}

/* The first events, and of those that are wholes the parts: what is little of all may be
 * much of its CPU time. */
static size_t list_columns(const struct report *r, size_t n_events, size_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < n_events; i++) {
		ret[n++] = r->shown[i];
		for (size_t c = 0; c < profile_n_columns(r->profile); c++)
			if (profile_column(r->profile, c)->whole == r->shown[i])
				ret[n++] = c;
	}
	return n;
}

void tree_view_build(struct tree_view *v, const struct calltree_options *how)
{
	struct calltree_options o = *how;
	size_t least = v->r->width / 2; /* a tree grows to the right */

	v->bottom_up = o.bottom_up;
	v->n_events = v->r->n_shown;
	if (v->cells && !v->r->json) {
		const struct comparison *c = v->cells->comparison;

		o.shown = &c->columns[v->cells->event * c->n_sources];
		o.n_shown = c->n_sources;
	}
	if (v->cells || v->r->json) {
		calltree_build(&v->tree, v->r->profile, &o);
		return;
	}

	own(freep) size_t *columns =
		xcalloc(profile_n_columns(v->r->profile) + 1, sizeof(*columns));
	size_t n_events;

	o.shown = columns;
	o.n_shown = list_columns(v->r, v->r->n_shown, columns);
	calltree_build(&v->tree, v->r->profile, &o);
	n_events = event_fit(v->r, least, first_row, v);
	v->n_events = n_events;
	if (n_events == v->r->n_shown)
		return;
	calltree_fini(&v->tree);
	o.n_shown = list_columns(v->r, n_events, columns);
	calltree_build(&v->tree, v->r->profile, &o);
}

void tree_view_print(struct tree_view *v, const char *others, FILE *out)
{
	report_head_print(v->r, out);
	report_text_others(v->r, others, out);
	begin_table(v);
	put_children(v, 0);
	if (v->tree.n_nodes > 1 || v->tree.nodes[0].function != MODEL_NONE)
		report_table_print(v->table, out);
	else
		report_text_nothing(v->r, out);
	event_fit_print_rest(v->r, v->n_events, 0, out);
	if (v->tree.is_cut)
		fputs("… the tree is too large to be shown whole: raise --min\n", out);
	if (v->cells)
		compare_cells_print_notes(v->cells, has_chance(v), out);
	report_quality_print(v->r, out);
	report_table_free(v->table);
	buf_fini(&v->guides);
}

static void put_json_node(struct json *j, const struct tree_view *v, uint32_t id)
{
	const struct calltree_node *n = &v->tree.nodes[id];

	json_object(j);
	json_key_u64(j, "id", id);
	if (id)
		json_key_u64(j, "parent", n->parent);
	if (n->function == MODEL_NONE)
		json_key_str(j, "name", "<total>");
	else
		report_json_function(j, v->r, n->function);
	json_key_u64(j, "depth", n->depth);
	json_key_bool(j, "inlined", n->is_inlined);
	if (n->n_folded)
		json_key_u64(j, "recursion_depth", n->n_folded + 1);
	report_json_values(j, v->r, "inclusive", inclusive_of(v, id));
	report_json_values(j, v->r, "exclusive", exclusive_of(v, id));
	if (v->cells)
		compare_cells_json(v->cells, j, "inclusive", inclusive_of(v, id));
	if (n->n_hidden) {
		json_key_u64(j, "hidden_children", n->n_hidden);
		report_json_values(j, v->r, "hidden",
				   v->tree.hidden + id * v->tree.n_columns);
	}
	json_object_end(j);
}

void tree_view_json(const struct tree_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r,
			  v->cells	 ? "diff-tree"
			  : v->bottom_up ? "tree-bottom-up"
					 : "tree",
			  out);
	for (uint32_t i = 0; i < v->tree.n_nodes; i++)
		put_json_node(&j, v, i);
	report_json_end(&j, v->r);
}
