/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/inline_tree.h"

#include <dwarf.h>

#include "sym/form.h"
#include "sym/range_list.h"

/* Assignments of one walk: real programs nest some tens of inlined calls at most. */
#define NESTING_MAX 256
#define WORK_SMALL  (1u << 20)

/* What the children of an entry are inside of. */
struct level {
	uint32_t node;	     /* the innermost function around, or NONE */
	uint32_t first, end; /* the addresses that can be in here */
};

struct walk {
	const struct debug_unit *u;
	const uint64_t *addresses;
	size_t n;
	struct inline_tree *tree;
	uint32_t *ret;
	VEC(struct level) levels;
	struct level at;   /* of the entries being read */
	struct level look; /* the addresses that the entry could contain */
	size_t work;	   /* left; damaged ranges could ask for any amount */
	/* of the entry being looked at */
	struct inline_node node;
	struct level inside;
};

/* The attributes that say where a function is. */
struct where {
	struct form_value low, high, ranges;
	bool is_declaration;
};

void inline_tree_fini(struct inline_tree *tree)
{
	vec_fini(&tree->nodes);
}

static uint32_t first_at_or_after(const struct walk *w, uint64_t address)
{
	uint32_t low = w->look.first, high = w->look.end;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (w->addresses[mid] < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint32_t add_node(struct walk *w)
{
	if (w->inside.node == INLINE_TREE_NONE) {
		w->inside.node = (uint32_t)w->tree->nodes.n;
		*vec_push(&w->tree->nodes) = w->node;
	}
	return w->inside.node;
}

static bool take_range(void *ctx, uint64_t start, uint64_t end)
{
	struct walk *w = ctx;
	uint32_t first = first_at_or_after(w, start), i = first;

	for (; i < w->look.end && w->addresses[i] < end && w->work; i++, w->work--)
		w->ret[i] = add_node(w);
	if (i > first) {
		if (first < w->inside.first)
			w->inside.first = first;
		if (i > w->inside.end)
			w->inside.end = i;
	}
	return w->work && w->work--;
}

static void take_attr(struct walk *w, struct where *where, unsigned name,
		      const struct form_value *v)
{
	switch (name) {
	case DW_AT_low_pc:
		where->low = *v;
		break;
	case DW_AT_high_pc:
		where->high = *v;
		break;
	case DW_AT_ranges:
		where->ranges = *v;
		break;
	case DW_AT_declaration:
		where->is_declaration = true;
		break;
	case DW_AT_call_file:
		w->node.call_file = v->v;
		break;
	case DW_AT_call_line:
		w->node.call_line = (uint32_t)v->v;
		break;
	case DW_AT_call_column:
		w->node.call_column = (uint32_t)v->v;
		break;
	}
}

static void take_where(struct walk *w, const struct where *where)
{
	uint64_t low, high;
	bool is_index = where->ranges.class == FORM_RANGE_INDEX;

	if (is_index || form_is_offset(w->u, &where->ranges)) {
		range_list_each(w->u, where->ranges.v, is_index, take_range, w);
		return;
	}
	if (!where->high.class || !form_address(w->u, &where->low, &low))
		return;
	if (!form_address(w->u, &where->high, &high))
		high = low + where->high.v;
	range_list_one(w->u, low, high, take_range, w);
}

/* Sets w->inside to what this entry's children are inside of.  A local class inside a
 * function has methods elsewhere in the code, so a subprogram is asked about all
 * addresses; what is inlined only about those of the function it is inlined into. */
static void look_at(struct walk *w, const struct abbrev *a, uint64_t entry,
		    struct reader *r)
{
	const struct abbrev_attr *attrs = abbrev_attrs(w->u->abbrevs, a);
	struct where where = { 0 };
	bool is_inlined = a->tag == DW_TAG_inlined_subroutine;

	w->node = (struct inline_node){
		.parent = is_inlined ? w->at.node : INLINE_TREE_NONE,
		.is_inlined = is_inlined,
		.entry = entry,
	};
	w->look = is_inlined ? w->at : (struct level){ 0, 0, (uint32_t)w->n };
	for (uint32_t i = 0; i < a->n_attrs && !r->bad; i++) {
		struct form_value v = form_read(w->u, &attrs[i], r);

		take_attr(w, &where, attrs[i].name, &v);
	}
	w->inside = (struct level){ INLINE_TREE_NONE, w->look.end, 0 };
	if (!r->bad && !where.is_declaration)
		take_where(w, &where);
}

static void enter_children(struct walk *w, const struct abbrev *a)
{
	*vec_push(&w->levels) = w->at;
	if (a->tag == DW_TAG_subprogram || a->tag == DW_TAG_inlined_subroutine)
		w->at = w->inside;
}

static bool is_function(const struct walk *w, const struct abbrev *a)
{
	/* What is inlined into a function without wanted addresses has none either. */
	return a->tag == DW_TAG_subprogram ||
	       (a->tag == DW_TAG_inlined_subroutine && w->at.node != INLINE_TREE_NONE);
}

void inline_tree_walk(const struct debug_unit *u, const uint64_t *addresses, size_t n,
		      struct inline_tree *tree, uint32_t *ret)
{
	struct walk w = {
		.u = u, .addresses = addresses, .n = n, .tree = tree, .ret = ret
	};
	struct reader r = debug_file_entries(u, u->root);
	const uint8_t *info = u->file->sections[DEBUG_INFO].data;

	w.at = (struct level){ INLINE_TREE_NONE, 0, (uint32_t)n };
	w.work = n * NESTING_MAX + WORK_SMALL + (size_t)(u->end - u->root);
	for (size_t i = 0; i < n; i++)
		ret[i] = INLINE_TREE_NONE;
	while (reader_left(&r) && w.work) {
		uint64_t entry = (uint64_t)(r.at - info), code = reader_uleb(&r);
		const struct abbrev *a;

		if (!code) {
			if (!w.levels.n)
				break;
			w.at = w.levels.at[--w.levels.n];
			if (!w.levels.n)
				break;
			continue;
		}
		a = abbrev_find(u->abbrevs, code);
		if (!a)
			break;
		if (is_function(&w, a)) {
			look_at(&w, a, entry, &r);
		} else {
			abbrev_skip(u->abbrevs, a, &r);
			w.inside = (struct level){ INLINE_TREE_NONE, 0, 0 };
		}
		if (a->has_children)
			enter_children(&w, a);
	}
	vec_fini(&w.levels);
}
