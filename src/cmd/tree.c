/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calltree.h"
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

#define DEFAULT_MIN_PCT 1.0
#define DEFAULT_DEPTH	60

static const struct option_spec own_options[] = {
	{ .name = "bottom-up",
	  .short_name = 'b',
	  .kind = OPTION_FLAG,
	  .text = "From the functions where time was spent up to their callers" },
	{ .name = "depth",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .default_text = "60",
	  .text = "At most N levels; 0: all" },
	{ .name = "min",
	  .kind = OPTION_STRING,
	  .arg = "PCT",
	  .default_text = "1 %",
	  .text = "Open only what has at least PCT percent; the rest is one line" },
	OPTION_END,
};

struct view {
	const struct report *r;
	struct calltree tree;
	bool bottom_up;
	struct report_table *table;
	struct buf guides; /* what is drawn left of a node's children */
};

static const uint64_t *inclusive_of(const struct view *v, uint32_t node)
{
	return v->tree.inclusive + node * v->tree.n_columns;
}

static const uint64_t *exclusive_of(const struct view *v, uint32_t node)
{
	return v->tree.exclusive + node * v->tree.n_columns;
}

static const char *name_of(const struct view *v, uint32_t node)
{
	uint32_t f = v->tree.nodes[node].function;

	return f == MODEL_NONE ? "<total>" : profile_function(v->r->profile, f)->label;
}

static void put_numbers(const struct view *v, const uint64_t *inclusive,
			const uint64_t *exclusive)
{
	char s[TEXT_MAX];

	for (size_t i = 0; i < v->r->n_shown; i++) {
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

static void put_node(struct view *v, uint32_t id, const char *branch)
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
	report_table_cell(v->table,
			  n->function == MODEL_NONE
				  ? ""
				  : profile_function(v->r->profile, n->function)->image);
}

/* The children that were not opened are one line. */
static void put_hidden(struct view *v, uint32_t id)
{
	const struct calltree_node *n = &v->tree.nodes[id];
	size_t n_columns = v->tree.n_columns;
	own(freep) uint64_t *zero = xcalloc(n_columns + 1, sizeof(*zero));
	own(buf_fini) struct buf text = { 0 };

	buf_printf(&text, "%s└ … %u other%s", buf_str(&v->guides), n->n_hidden,
		   n->n_hidden == 1 ? "" : "s");
	report_table_row(v->table, false);
	put_numbers(v, v->tree.hidden + id * n_columns, zero);
	report_table_cell(v->table, buf_str(&text));
	report_table_cell(v->table, "");
}

/* A chain of only children stays in its column: a call that branches nowhere and costs
 * nothing itself says nothing by being indented. */
static bool is_chain(const struct view *v, uint32_t id)
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

static void put_children(struct view *v, uint32_t id);

static void put_subtree(struct view *v, uint32_t id, const char *branch,
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
static void put_deeper(struct view *v, uint32_t id)
{
	size_t n_columns = v->tree.n_columns;
	own(freep) uint64_t *rest = xcalloc(n_columns + 1, sizeof(*rest));
	own(freep) uint64_t *zero = xcalloc(n_columns + 1, sizeof(*zero));
	own(buf_fini) struct buf text = { 0 };

	for (size_t c = 0; c < n_columns; c++)
		rest[c] = inclusive_of(v, id)[c] - exclusive_of(v, id)[c];
	buf_printf(&text, "%s└ … deeper: dwell tree ", buf_str(&v->guides));
	report_table_row(v->table, false);
	put_numbers(v, rest, zero);
	report_table_decorated(v->table, buf_str(&text), name_of(v, id), "");
	report_table_cell(v->table, "");
}

static void put_children(struct view *v, uint32_t id)
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

static void add_titles(const struct view *v)
{
	for (size_t i = 0; i < v->r->n_shown; i++) {
		own(buf_fini) struct buf name = { 0 };

		report_text_column(v->r, v->r->shown[i], &name);
		report_table_number(v->table, buf_str(&name));
		report_table_number(v->table, "%");
		if (!v->bottom_up)
			report_table_number(v->table, "Excl.");
	}
	report_table_name(v->table,
			  v->bottom_up ? "Function, its callers below (↳ inlined)"
				       : "Function, what it calls below (↳ inlined)",
			  5);
	report_table_name(v->table, "Image", 2);
}

static void print_text(struct view *v, const char *others, FILE *out)
{
	v->table = report_table_new(v->r->width, command_terminal()->colour);
	report_head_print(v->r, out);
	if (others[0])
		fprintf(out, "Also matching, not shown: %s\n\n", others);
	add_titles(v);
	put_node(v, 0, "");
	put_children(v, 0);
	if (v->tree.n_nodes > 1 || v->tree.nodes[0].function != MODEL_NONE)
		report_table_print(v->table, out);
	else
		report_text_nothing(v->r, out);
	if (v->tree.is_cut)
		fputs("… the tree is too large to be shown whole: raise --min\n", out);
	report_quality_print(v->r, out);
	report_table_free(v->table);
	buf_fini(&v->guides);
}

static void put_json_node(struct json *j, const struct view *v, uint32_t id)
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
	if (n->n_hidden) {
		json_key_u64(j, "hidden_children", n->n_hidden);
		report_json_values(j, v->r, "hidden",
				   v->tree.hidden + id * v->tree.n_columns);
	}
	json_object_end(j);
}

static void print_json(const struct view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, v->bottom_up ? "tree-bottom-up" : "tree", out);
	for (uint32_t i = 0; i < v->tree.n_nodes; i++)
		put_json_node(&j, v, i);
	report_json_end(&j, v->r);
}

static int take_limits(const struct options *o, struct calltree_options *to,
		       struct err *e)
{
	double pct = DEFAULT_MIN_PCT;
	const char *min = options_str(o, "min");
	int rc = min ? report_value_parse_pct(min, &pct, e) : 0;

	to->min_share = pct / 100;
	to->max_depth = (unsigned)options_u64(o, "depth", DEFAULT_DEPTH);
	to->bottom_up = options_has(o, "bottom-up");
	return rc;
}

static int run(struct options *o, struct err *e)
{
	char *const *operands = options_argv(o);
	bool has_function = operands[0] && !report_profile_is_file(operands[0]);
	own(report_profile_close) struct report r = { 0 };
	struct calltree_options tree = { .function = MODEL_NONE };
	struct view v = { .r = &r };
	char others[400] = "";
	int rc = report_profile_open(o, operands + has_function, NULL, &r, e);

	if (rc == 0)
		rc = take_limits(o, &tree, e);
	if (rc == 0 && has_function)
		rc = report_profile_find_function(&r, operands[0], &tree.function, others,
						  sizeof(others), e);
	if (rc < 0)
		return rc;
	tree.column = r.sort_column;
	calltree_build(&v.tree, r.profile, &tree);
	v.bottom_up = tree.bottom_up;
	if (r.json)
		print_json(&v, stdout);
	else
		print_text(&v, others, stdout);
	calltree_fini(&v.tree);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell tree", "calling contexts from main down" },
	{ "dwell tree --bottom-up", "from the hot functions up to who called them" },
	{ "dwell tree parse --min 5%", "what parse spends its time on" },
	{ NULL, NULL },
};

const struct command cmd_tree = {
	.name = "tree",
	.usage = "[options] [FUNCTION] [RECORDING…]",
	.summary = "Show calling contexts, top-down or bottom-up",
	.description =
		"Prints the stacks merged by function, heaviest branch first. With "
		"FUNCTION only stacks through it are shown, from its outermost call down "
		"or, bottom-up, from its innermost call up. A call that leads nowhere "
		"else "
		"is not indented, and a function that calls itself is one line that "
		"tells "
		"how deep it went.\n\n"
		"An operand that ends in .dwell, or that has a slash and exists, is a "
		"recording.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
