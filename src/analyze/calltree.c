/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/profile_data.h"
#include "analyze/walk.h"
#include "base/mem.h"

/* A place in a source's stacks that belongs to a node. */
struct place {
	uint32_t function;
	uint32_t source, stack;
	uint32_t frame;	 /* index within the stack's own frames */
	uint32_t origin; /* going up: the stack that has the weight */
};

typedef VEC(struct place) place_vec;

/* Children of the stacks of a source; 0 ends a list. */
struct links {
	uint32_t *first_child, *next_sibling;
};

struct build {
	const struct profile *p;
	const struct calltree_options *o;
	struct calltree *t;
	struct links *links;   /* [source], going down */
	uint64_t **totals;     /* [source]: weight in and below a stack, by own column */
	VEC(place_vec) places; /* [node], released once it is opened */
	VEC(struct calltree_node) nodes;
	VEC(uint64_t) inclusive;
	VEC(uint64_t) exclusive;
	VEC(uint64_t) hidden;
	uint64_t *sums; /* scratch: a group's weights by column */
	place_vec next; /* scratch: the places one step on */
};

static const struct input *source_of(const struct build *b, const struct place *at)
{
	return &b->p->sources[at->source];
}

/* A parent has a smaller id than its child: one pass from the end adds everything up. */
static uint64_t *sum_below(const struct input *s)
{
	uint32_t n = s->n_columns;
	uint64_t *totals = xcalloc((size_t)s->n_stacks * n + 1, sizeof(*totals));

	for (uint32_t i = s->n_stacks; i-- > 0;) {
		const uint64_t *w = input_weights(s, i);
		uint32_t parent = s->stacks[i].parent;

		for (uint32_t c = 0; c < n; c++) {
			uint64_t *at = totals + (size_t)i * n + c;

			*at += w ? w[c] : 0;
			if (i)
				totals[(size_t)parent * n + c] += *at;
		}
	}
	return totals;
}

static struct links link_children(const struct input *s)
{
	struct links l = { xcalloc(s->n_stacks + 1, sizeof(uint32_t)),
			   xcalloc(s->n_stacks + 1, sizeof(uint32_t)) };

	for (size_t i = s->n_ordered; i-- > 1;) {
		uint32_t stack = s->order[i], parent = s->stacks[stack].parent;

		l.next_sibling[stack] = l.first_child[parent];
		l.first_child[parent] = stack;
	}
	return l;
}

static void add_values(uint64_t *to, const uint64_t *from, const struct input *s)
{
	for (uint32_t c = 0; from && c < s->n_columns; c++)
		to[s->first_column + c] += from[c];
}

static const uint64_t *inclusive_of(const struct build *b, const struct place *at)
{
	const struct input *s = source_of(b, at);

	if (b->o->bottom_up)
		return input_weights(s, at->origin);
	return b->totals[at->source] + (size_t)at->stack * s->n_columns;
}

static void push_place(struct build *b, const struct place *like, uint32_t stack,
		       uint32_t frame)
{
	uint32_t n, first = input_frames(source_of(b, like), stack, &n);
	struct place *to = vec_push(&b->next);

	*to = *like;
	to->stack = stack;
	to->frame = frame;
	to->function = b->p->frames.at[first + frame].function;
}

/* Into the first frame at or below a stack: the stack itself when it has frames. */
static void push_children(struct build *b, const struct place *at)
{
	const struct input *s = source_of(b, at);

	const struct links *l = &b->links[at->source];

	for (uint32_t c = l->first_child[at->stack]; c; c = l->next_sibling[c]) {
		uint32_t n;

		input_frames(s, c, &n);
		if (n)
			push_place(b, at, c, 0);
	}
}

/* One step down from a place; what is counted at the place itself is exclusive. */
static void step_down(struct build *b, const struct place *at, uint64_t *exclusive)
{
	const struct input *s = source_of(b, at);
	uint32_t n;

	input_frames(s, at->stack, &n);
	if (n && at->frame + 1 < n) {
		push_place(b, at, at->stack, at->frame + 1);
		return;
	}
	add_values(exclusive, input_weights(s, at->stack), s);
	push_children(b, at);
}

static void step_up(struct build *b, const struct place *at, uint64_t *exclusive)
{
	const struct input *s = source_of(b, at);
	uint32_t stack = at->stack, n;

	if (at->frame) {
		push_place(b, at, stack, at->frame - 1);
		return;
	}
	while ((stack = s->stacks[stack].parent)) {
		input_frames(s, stack, &n);
		if (n) {
			push_place(b, at, stack, n - 1);
			return;
		}
	}
	add_values(exclusive, input_weights(s, at->origin), s);
}

static int by_function(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->function < y->function ? -1 : x->function > y->function;
}

static uint32_t add_node(struct build *b, uint32_t parent, uint32_t function)
{
	bool is_root = !b->nodes.n;

	*vec_push(&b->nodes) = (struct calltree_node){
		.function = function,
		.parent = parent,
		.depth = is_root ? 0 : b->nodes.at[parent].depth + 1,
	};
	for (size_t c = 0; c < b->t->n_columns; c++) {
		*vec_push(&b->inclusive) = 0;
		*vec_push(&b->exclusive) = 0;
		*vec_push(&b->hidden) = 0;
	}
	return (uint32_t)b->nodes.n - 1;
}

/* All places of one function, found next to each other in b->next. */
struct group {
	size_t from, to;
	uint64_t weight; /* in the column of the order */
	double share;	 /* the largest of its shares of the columns */
};

typedef VEC(struct group) group_vec;

/* The weights of a group by column, in b->sums. */
static void sum_group(struct build *b, size_t from, size_t to)
{
	memset(b->sums, 0, b->t->n_columns * sizeof(*b->sums));
	for (size_t i = from; i < to; i++)
		add_values(b->sums, inclusive_of(b, &b->next.at[i]),
			   source_of(b, &b->next.at[i]));
}

static struct group make_group(struct build *b, size_t from, size_t to)
{
	struct group g = { .from = from, .to = to };

	sum_group(b, from, to);
	for (size_t i = 0; i < (b->o->n_shown ? b->o->n_shown : b->t->n_columns); i++) {
		size_t c = b->o->n_shown ? b->o->shown[i] : i;
		double total = (double)b->p->columns.at[c].total_weight;
		double share = total > 0 ? (double)b->sums[c] / total : 0;

		g.share = share > g.share ? share : g.share;
	}
	if (b->t->n_columns)
		g.weight = b->sums[b->o->column];
	return g;
}

static void find_groups(struct build *b, group_vec *groups)
{
	if (b->next.n)
		qsort(b->next.at, b->next.n, sizeof(b->next.at[0]), by_function);
	for (size_t i = 0, k; i < b->next.n; i = k) {
		for (k = i;
		     k < b->next.n && b->next.at[k].function == b->next.at[i].function;)
			k++;
		*vec_push(groups) = make_group(b, i, k);
	}
}

static int heaviest_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->from < y->from ? -1 : 1;
}

static void step_all(struct build *b, uint32_t node, const place_vec *places)
{
	uint64_t *exclusive = b->exclusive.at + node * b->t->n_columns;

	vec_clear(&b->next);
	for (size_t i = 0; i < places->n; i++) {
		if (b->o->bottom_up)
			step_up(b, &places->at[i], exclusive);
		else
			step_down(b, &places->at[i], exclusive);
	}
}

/* A child that is the function itself again: its places become the node's own and are
 * stepped on until only other functions are left. */
static void fold_recursion(struct build *b, uint32_t node)
{
	uint32_t function = b->nodes.at[node].function;
	place_vec others = { 0 }, again = { 0 };

	for (;;) {
		vec_clear(&again);
		for (size_t i = 0; i < b->next.n; i++) {
			bool is_same = b->next.at[i].function == function;

			if (is_same)
				*vec_push(&again) = b->next.at[i];
			else
				*vec_push(&others) = b->next.at[i];
		}
		if (!again.n)
			break;
		b->nodes.at[node].n_folded++;
		step_all(b, node, &again);
	}
	vec_fini(&again);
	vec_fini(&b->next);
	b->next = others;
}

static bool is_inlined_place(const struct build *b, const struct place *at)
{
	uint32_t n, first = input_frames(source_of(b, at), at->stack, &n);

	return b->p->frames.at[first + at->frame].is_inlined;
}

static void add_child(struct build *b, uint32_t parent, const struct group *g)
{
	uint32_t id = add_node(b, parent, b->next.at[g->from].function);
	bool all_inlined = true;

	vec_push(&b->places);
	for (size_t i = g->from; i < g->to; i++) {
		const struct place *at = &b->next.at[i];

		add_values(b->inclusive.at + id * b->t->n_columns, inclusive_of(b, at),
			   source_of(b, at));
		*vec_push(&b->places.at[id]) = *at;
		all_inlined = all_inlined && is_inlined_place(b, at);
	}
	b->nodes.at[id].is_inlined = all_inlined;
	b->nodes.at[parent].n_children++;
}

static bool is_shown(const struct build *b, uint32_t parent, const struct group *g)
{
	return g->share >= b->o->min_share &&
	       (!b->o->max_depth || b->nodes.at[parent].depth < b->o->max_depth) &&
	       b->nodes.n < CALLTREE_MAX_NODES;
}

static void hide(struct build *b, uint32_t parent, const struct group *g)
{
	uint64_t *hidden = b->hidden.at + parent * b->t->n_columns;

	sum_group(b, g->from, g->to);
	b->nodes.at[parent].n_hidden++;
	for (size_t c = 0; c < b->t->n_columns; c++)
		hidden[c] += b->sums[c];
}

static void open_node(struct build *b, uint32_t node)
{
	group_vec groups = { 0 };
	place_vec places = b->places.at[node];

	b->places.at[node] = (place_vec){ 0 };
	step_all(b, node, &places);
	vec_fini(&places);
	if (b->nodes.at[node].function != MODEL_NONE && !b->o->keep_recursion)
		fold_recursion(b, node);
	find_groups(b, &groups);
	if (groups.n)
		qsort(groups.at, groups.n, sizeof(groups.at[0]), heaviest_first);
	b->nodes.at[node].first_child = (uint32_t)b->nodes.n;
	vec_each(g, &groups) {
		if (g->share <= 0)
			continue;
		if (is_shown(b, node, g))
			add_child(b, node, g);
		else
			hide(b, node, g);
	}
	vec_fini(&groups);
}

static void add_root_place(struct build *b, struct place at)
{
	const struct input *s = source_of(b, &at);

	*vec_push(&b->places.at[0]) = at;
	add_values(b->inclusive.at, inclusive_of(b, &at), s);
}

/* Where the function is entered for the first time, or with `bottom_up` its innermost
 * occurrence in every stack that has weight. */
static void add_focus(struct build *b, uint32_t source)
{
	const struct input *s = &b->p->sources[source];
	struct walk w = walk_over(s);
	VEC(struct place) found = { 0 }; /* occurrences on the path */

	for (enum walk_step step; (step = walk_next(&w)) != WALK_END;) {
		uint32_t n, first = input_frames(s, w.stack, &n);

		if (step == WALK_LEAVE) {
			while (found.n && found.at[found.n - 1].stack == w.stack)
				found.n--;
			continue;
		}
		for (uint32_t i = 0; i < n; i++) {
			if (b->p->frames.at[first + i].function != b->o->function)
				continue;
			*vec_push(&found) = (struct place){ b->o->function, source,
							    w.stack, i, w.stack };
			if (!b->o->bottom_up && found.n == 1)
				add_root_place(b, found.at[0]);
		}
		if (b->o->bottom_up && found.n && input_weights(s, w.stack)) {
			struct place at = found.at[found.n - 1];

			at.origin = w.stack;
			add_root_place(b, at);
		}
	}
	vec_fini(&found);
}

/* Everything: down from the empty stack, or up from every stack that has weight.  Going
 * up, the first step must land on the leaf itself, so the root's places are "below" it.
 */
static void add_everything(struct build *b, uint32_t source)
{
	const struct input *s = &b->p->sources[source];

	if (!b->o->bottom_up) {
		if (s->n_stacks)
			add_root_place(b, (struct place){ MODEL_NONE, source, 0, 0, 0 });
		return;
	}
	for (uint32_t i = 0; i < s->n_stacks; i++) {
		uint32_t n;

		if (!input_weights(s, i))
			continue;
		input_frames(s, i, &n);
		add_root_place(b, (struct place){ MODEL_NONE, source, i, n, i });
	}
}

static void release(struct build *b)
{
	for (size_t i = 0; i < b->p->n_sources; i++) {
		free(b->totals[i]);
		free(b->links[i].first_child);
		free(b->links[i].next_sibling);
	}
	free(b->totals);
	free(b->links);
	for (size_t i = 0; i < b->nodes.n; i++)
		vec_fini(&b->places.at[i]);
	vec_fini(&b->places);
	vec_fini(&b->next);
	free(b->sums);
}

void calltree_build(struct calltree *ret, const struct profile *p,
		    const struct calltree_options *o)
{
	struct build b = { .p = p, .o = o, .t = ret };
	bool has_focus = o->function != MODEL_NONE;

	*ret = (struct calltree){ .n_columns = p->columns.n };
	b.totals = xcalloc(p->n_sources + 1, sizeof(*b.totals));
	b.links = xcalloc(p->n_sources + 1, sizeof(*b.links));
	for (size_t i = 0; i < p->n_sources && !o->bottom_up; i++) {
		b.totals[i] = sum_below(&p->sources[i]);
		b.links[i] = link_children(&p->sources[i]);
	}
	vec_push(&b.places);
	b.sums = xcalloc(p->columns.n + 1, sizeof(*b.sums));
	add_node(&b, 0, o->function);
	for (uint32_t i = 0; i < p->n_sources; i++) {
		if (has_focus)
			add_focus(&b, i);
		else
			add_everything(&b, i);
	}
	for (uint32_t i = 0; i < b.nodes.n; i++)
		open_node(&b, i);
	ret->is_cut = b.nodes.n >= CALLTREE_MAX_NODES;
	release(&b);
	ret->nodes = b.nodes.at;
	ret->n_nodes = b.nodes.n;
	ret->inclusive = b.inclusive.at;
	ret->exclusive = b.exclusive.at;
	ret->hidden = b.hidden.at;
}

void calltree_fini(struct calltree *t)
{
	free(t->nodes);
	free(t->inclusive);
	free(t->exclusive);
	free(t->hidden);
	*t = (struct calltree){ 0 };
}
