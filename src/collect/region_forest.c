/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/region_forest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/region_record.h"

static struct region_forest_tree *tree_new(uint32_t number, uint32_t tid)
{
	struct region_forest_tree *t = xcalloc(1, sizeof(*t));

	t->number = number;
	t->tid = tid;
	*vec_push(&t->nodes) = (struct region_forest_node){ .is_known = true };
	*map_slot(&t->index, 0, NULL) = 0;
	return t;
}

static void tree_free(struct region_forest_tree *t)
{
	map_fini(&t->index);
	vec_fini(&t->nodes);
	vec_fini(&t->changed);
	free(t);
}

void region_forest_fini(struct region_forest *f)
{
	vec_each(t, &f->trees)
		tree_free(*t);
	vec_fini(&f->trees);
	map_fini(&f->index);
}

struct region_forest_tree *region_forest_find(const struct region_forest *f,
					      uint32_t tree)
{
	const uint64_t *i = map_find(&f->index, tree);

	return i ? f->trees.at[*i] : NULL;
}

void region_forest_drop(struct region_forest *f, struct region_forest_tree *t)
{
	uint64_t place = *map_find(&f->index, t->number);
	struct region_forest_tree *last = f->trees.at[--f->trees.n];

	f->trees.at[place] = last;
	*map_slot(&f->index, last->number, NULL) = place;
	map_remove(&f->index, t->number);
	tree_free(t);
}

struct region_forest_node *region_forest_node(const struct region_forest_tree *t,
					      uint32_t number)
{
	const uint64_t *i = map_find(&t->index, number);

	return i ? &t->nodes.at[*i] : NULL;
}

static void change(struct region_forest_tree *t, uint32_t i)
{
	if (t->nodes.at[i].has_changed)
		return;
	t->nodes.at[i].has_changed = true;
	*vec_push(&t->changed) = i;
}

/* A parent is told before; of one that was lost the children are the thread's. */
static uint32_t index_of(struct region_forest_tree *t, const struct wire_regions_node *n)
{
	const uint64_t *parent = map_find(&t->index, n->parent);
	uint32_t parent_index = parent ? (uint32_t)*parent : 0;
	bool is_new;
	uint64_t *i = map_slot(&t->index, n->node, &is_new);

	if (!is_new)
		return (uint32_t)*i;
	*i = t->nodes.n;
	*vec_push(&t->nodes) = (struct region_forest_node){ .parent = parent_index,
							    .region = n->region,
							    .is_known = true };
	return (uint32_t)*i;
}

/* Values do not fall; a counter's is no time. */
static void take_node(struct region_forest_tree *t, const struct wire_regions_nodes *head,
		      const struct wire_regions_node *n)
{
	uint32_t i = index_of(t, n);
	struct region_forest_node *node = &t->nodes.at[i];
	uint64_t quantity = node->region & WIRE_REGIONS_FUNCTION ||
					    !(node->region & WIRE_REGIONS_COUNTER)
				    ? region_record_scale(head, n->exclusive)
				    : n->exclusive;

	if (!i)
		return;
	if (n->calls > node->calls)
		node->calls = n->calls;
	if (quantity > node->quantity)
		node->quantity = quantity;
	change(t, i);
}

struct region_forest_tree *region_forest_take(struct region_forest *f,
					      const struct wire_regions_nodes *head,
					      const uint8_t *rows)
{
	bool is_new;
	uint64_t *place = map_slot(&f->index, head->tree, &is_new);
	struct region_forest_tree *t;

	if (is_new) {
		*place = f->trees.n;
		*vec_push(&f->trees) = tree_new(head->tree, head->tid);
	}
	t = f->trees.at[*place];
	for (uint32_t i = 0; i < head->n; i++) {
		struct wire_regions_node n = region_record_node(rows, i);

		take_node(t, head, &n);
	}
	t->time_ns = head->time_ns > t->time_ns ? head->time_ns : t->time_ns;
	t->is_over = head->is_over != 0;
	t->n_unmatched = head->n_unmatched;
	t->n_cut = head->n_cut;
	t->n_refused = head->n_refused;
	const uint64_t *top = map_find(&t->index, head->top);

	t->top = top ? (uint32_t)*top : 0;
	return t;
}

void region_forest_pass(struct region_forest_tree *t, uint64_t now_ns)
{
	if (!t->top || t->is_over || now_ns <= t->time_ns)
		return;
	t->nodes.at[t->top].quantity += now_ns - t->time_ns;
	t->time_ns = now_ns;
	change(t, t->top);
}

struct region_forest_node *region_forest_change(struct region_forest_tree *t,
						uint64_t *ret_calls,
						uint64_t *ret_quantity)
{
	struct region_forest_node *n;

	if (!t->changed.n)
		return NULL;
	n = &t->nodes.at[t->changed.at[--t->changed.n]];
	n->has_changed = false;
	*ret_calls = n->calls - n->given_calls;
	*ret_quantity = n->quantity - n->given_quantity;
	n->given_calls = n->calls;
	n->given_quantity = n->quantity;
	return n;
}
