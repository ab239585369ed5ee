/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/call_shares.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lazy_stubs.h"
#include "base/mem.h"

/* A function in one program. */
struct node {
	uint32_t function;
	uint32_t location; /* of a block of it */
	double n;	   /* instructions that it executed itself */
};

struct call_shares {
	const struct profile *p;
	const struct input *s;
	size_t n_columns;
	struct map node_of; /* program and function: node */
	VEC(struct node) nodes;
	struct lazy_stubs stubs;
	VEC(struct call_shares_site) sites; /* by caller */
	uint32_t *first_site;		    /* [node]; n + 1 of them */
	uint32_t *component;		    /* [node]: those in a circle have the same */
	uint32_t n_components;
	VEC(double) entered_by_node;  /* [node]: from everywhere */
	double *entered_from_outside; /* [node]: of its component */
	double *circling;	      /* [node]: calls that stay in its component */
	double *entered;	      /* [component]: from outside */
	/* [node][column]: its own, and what it called outside of its component */
	double *own;
	double *totals; /* [component][column] */
};

void call_shares_free(struct call_shares *c)
{
	if (!c)
		return;
	map_fini(&c->node_of);
	vec_fini(&c->nodes);
	lazy_stubs_fini(&c->stubs);
	vec_fini(&c->sites);
	free(c->first_site);
	free(c->component);
	vec_fini(&c->entered_by_node);
	free(c->entered_from_outside);
	free(c->circling);
	free(c->entered);
	free(c->own);
	free(c->totals);
	free(c);
}

/* The function whose code it is; MODEL_NONE: of no frame. */
static uint32_t function_at(const struct call_shares *c, uint32_t location)
{
	const struct profile_frame *outermost =
		&c->p->frames.at[c->s->first_frame[location]];

	return c->s->n_frames[location] ? outermost->function : MODEL_NONE;
}

/* Nodes. */

static const char *name_of(const struct call_shares *c, uint32_t function)
{
	return c->p->functions.at[function].name;
}

static uint32_t node_of(struct call_shares *c, uint32_t program, uint32_t function)
{
	bool is_new;
	uint64_t *slot =
		map_slot(&c->node_of, (uint64_t)program << 32 | function, &is_new);

	if (is_new) {
		*slot = c->nodes.n;
		*vec_push(&c->nodes) = (struct node){ .function = function };
		*vec_push(&c->entered_by_node) = 0;
		lazy_stubs_add(&c->stubs, program, name_of(c, function), (uint32_t)*slot);
	}
	return (uint32_t)*slot;
}

static void find_nodes(struct call_shares *c, const struct block_graph *g)
{
	vec_each(b, &g->blocks) {
		uint32_t f = function_at(c, b->location), node;

		if (f == MODEL_NONE)
			continue;
		node = node_of(c, b->program, f);
		c->nodes.at[node].location = b->location;
		c->nodes.at[node].n += (double)b->times * b->n_instructions;
	}
}

/* Sites. */

/* Locations in the order of where they are. */
struct place {
	uint64_t offset;
	uint32_t image, location;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static size_t sort_places(const struct input *s, struct place **ret)
{
	struct place *places = xcalloc(s->n_locations + 1, sizeof(*places));
	size_t n = 0;

	for (uint32_t i = 0; i < s->n_locations; i++)
		if (s->n_frames[i])
			places[n++] = (struct place){ s->locations[i].offset,
						      s->locations[i].image, i };
	qsort(places, n, sizeof(*places), by_place);
	*ret = places;
	return n;
}

/* The last instruction of the block that was executed. */
static uint32_t last_location(const struct input *s, const struct place *places, size_t n,
			      const struct block_graph_block *b)
{
	const struct model_location *l = &s->locations[b->location];
	struct place end = { l->offset + b->size_bytes, l->image, 0 };
	size_t from = 0, to = n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (by_place(&places[middle], &end) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || places[from - 1].image != l->image ||
	    places[from - 1].offset < l->offset)
		return b->location;
	return places[from - 1].location;
}

static bool is_begin(const struct call_shares *c, uint32_t location)
{
	const struct profile_frame *f = &c->p->frames.at[c->s->first_frame[location]];

	return f->address == c->p->functions.at[f->function].start;
}

static bool is_call(const struct call_shares *c, const struct block_graph_way *w,
		    uint32_t caller, uint32_t callee, uint32_t entry)
{
	switch (w->kind) {
	case EDGE_CALL:
	case EDGE_INDIRECT_CALL:
		return true;
	case EDGE_TAKEN:
	case EDGE_INDIRECT_JUMP:
	case EDGE_ON:
		return caller != callee && is_begin(c, entry);
	default:
		return false;
	}
}

static void add_site(struct call_shares *c, uint32_t from, uint32_t to, uint32_t location,
		     uint32_t entry, uint64_t times)
{
	*vec_push(&c->sites) = (struct call_shares_site){
		.caller = c->nodes.at[from].function,
		.callee = c->nodes.at[to].function,
		.location = location,
		.entry = entry,
		.times = times,
		.from = from,
		.to = to,
	};
	c->entered_by_node.at[to] += (double)times;
}

/* The resolver jumps in the name of the stubs that asked it, once each.  Without them
 * the function is entered from nowhere. */
static void take_resolved(struct call_shares *c, uint32_t program, uint32_t to,
			  uint32_t entry, uint64_t times)
{
	const char *name = name_of(c, c->nodes.at[to].function);
	const struct lazy_stub *stub = NULL;

	while (times && (stub = lazy_stubs_find(&c->stubs, program, name, stub))) {
		uint32_t from = stub->node;

		add_site(c, from, to, c->nodes.at[from].location, entry, 1);
		times--;
	}
	c->entered_by_node.at[to] += (double)times;
}

static void take_way(struct call_shares *c, const struct block_graph *g,
		     const struct place *places, size_t n_places,
		     const struct block_graph_way *w)
{
	const struct block_graph_block *b = &g->blocks.at[w->from];
	uint32_t entry = g->blocks.at[w->to].location;
	uint32_t caller = function_at(c, b->location), callee = function_at(c, entry);
	uint32_t from, to;

	if (caller == MODEL_NONE || callee == MODEL_NONE ||
	    !is_call(c, w, caller, callee, entry))
		return;
	from = node_of(c, b->program, caller);
	to = node_of(c, b->program, callee);
	if (w->kind == EDGE_INDIRECT_JUMP && lazy_stubs_is_resolver(name_of(c, caller)))
		take_resolved(c, b->program, to, entry, w->times);
	else
		add_site(c, from, to, last_location(c->s, places, n_places, b), entry,
			 w->times);
}

static void take_entry(struct call_shares *c, const struct block_graph_block *b,
		       uint64_t times)
{
	uint32_t f = function_at(c, b->location), node;

	if (f == MODEL_NONE)
		return;
	node = node_of(c, b->program, f);
	c->entered_by_node.at[node] += (double)times;
}

static int by_caller(const void *a, const void *b)
{
	const struct call_shares_site *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->location != y->location)
		return x->location < y->location ? -1 : 1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

static void find_sites(struct call_shares *c, const struct block_graph *g)
{
	own(freep) struct place *places = NULL;
	size_t n_places = sort_places(c->s, &places), at = 0;

	vec_each(w, &g->ways) {
		if (w->from != MODEL_NONE && w->to != MODEL_NONE)
			take_way(c, g, places, n_places, w);
		else if (w->kind == EDGE_ENTERED)
			take_entry(c, &g->blocks.at[w->to], w->times);
	}
	if (c->sites.n)
		qsort(c->sites.at, c->sites.n, sizeof(*c->sites.at), by_caller);
	c->first_site = xcalloc(c->nodes.n + 1, sizeof(*c->first_site));
	for (uint32_t i = 0; i <= c->nodes.n; i++) {
		while (at < c->sites.n && c->sites.at[at].from < i)
			at++;
		c->first_site[i] = (uint32_t)at;
	}
}

/* Components: Tarjan's, whose numbers come out callees first. */

struct search {
	uint32_t *order;    /* [node]: when it was met, 0: not yet */
	uint32_t *lowest;   /* [node]: the earliest that is reached from it */
	uint32_t *next;	    /* [node]: the site to follow next */
	VEC(uint32_t) path; /* being followed */
	VEC(uint32_t) open; /* met, without a component */
	uint32_t n_met;
};

static void meet(struct call_shares *c, struct search *x, uint32_t f)
{
	x->order[f] = x->lowest[f] = ++x->n_met;
	x->next[f] = c->first_site[f];
	*vec_push(&x->path) = f;
	*vec_push(&x->open) = f;
}

static void close_component(struct call_shares *c, struct search *x, uint32_t f)
{
	uint32_t member;

	do {
		member = x->open.at[--x->open.n];
		c->component[member] = c->n_components;
	} while (member != f);
	c->n_components++;
}

static void follow(struct call_shares *c, struct search *x)
{
	while (x->path.n) {
		uint32_t f = x->path.at[x->path.n - 1];

		if (x->next[f] < c->first_site[f + 1]) {
			uint32_t to = c->sites.at[x->next[f]++].to;

			if (!x->order[to])
				meet(c, x, to);
			else if (c->component[to] == MODEL_NONE &&
				 x->order[to] < x->lowest[f])
				x->lowest[f] = x->order[to];
			continue;
		}
		x->path.n--;
		if (x->path.n) {
			uint32_t above = x->path.at[x->path.n - 1];

			if (x->lowest[f] < x->lowest[above])
				x->lowest[above] = x->lowest[f];
		}
		if (x->lowest[f] == x->order[f])
			close_component(c, x, f);
	}
}

static void find_components(struct call_shares *c)
{
	struct search x = { .order = xcalloc(c->nodes.n + 1, sizeof(uint32_t)),
			    .lowest = xcalloc(c->nodes.n + 1, sizeof(uint32_t)),
			    .next = xcalloc(c->nodes.n + 1, sizeof(uint32_t)) };

	memset(c->component, 0xff, c->nodes.n * sizeof(*c->component));
	for (uint32_t f = 0; f < c->nodes.n; f++) {
		if (x.order[f])
			continue;
		meet(c, &x, f);
		follow(c, &x);
	}
	free(x.order);
	free(x.lowest);
	free(x.next);
	vec_fini(&x.path);
	vec_fini(&x.open);
}

/* How often components are entered. */

static bool is_within(const struct call_shares *c, const struct call_shares_site *x)
{
	return c->component[x->from] == c->component[x->to];
}

static void count_entries(struct call_shares *c)
{
	if (c->nodes.n)
		memcpy(c->entered_from_outside, c->entered_by_node.at,
		       c->nodes.n * sizeof(double));
	vec_each(x, &c->sites) {
		if (!is_within(c, x))
			continue;
		c->entered_from_outside[x->to] -= (double)x->times;
		c->circling[x->from] += (double)x->times;
	}
	for (size_t f = 0; f < c->nodes.n; f++)
		c->entered[c->component[f]] += c->entered_from_outside[f];
}

/* Values. */

/* What a function took is with each program by the instructions that it executed there.
 */
static void take_own(struct call_shares *c)
{
	const struct input *s = c->s;
	size_t n = c->p->functions.n;
	own(freep) double *values = xcalloc(n * c->n_columns + 1, sizeof(*values));
	own(freep) double *executed = xcalloc(n + 1, sizeof(*executed));

	for (uint32_t i = 1; i < s->n_stacks; i++) {
		const uint64_t *weights = input_weights(s, i);
		uint32_t f = weights ? function_at(c, s->stacks[i].location) : MODEL_NONE;

		for (size_t k = 0; f != MODEL_NONE && k < c->n_columns; k++)
			values[f * c->n_columns + k] += (double)weights[k];
	}
	vec_each(node, &c->nodes)
		executed[node->function] += node->n;
	for (size_t i = 0; i < c->nodes.n; i++) {
		const struct node *node = &c->nodes.at[i];
		double share = node->n > 0 ? node->n / executed[node->function] : 0;

		for (size_t k = 0; k < c->n_columns; k++)
			c->own[i * c->n_columns + k] =
				values[node->function * c->n_columns + k] * share;
	}
}

static void values_from_outside(const struct call_shares *c,
				const struct call_shares_site *x, double *ret)
{
	uint32_t component = c->component[x->to];
	double share = (double)x->times / c->entered[component];

	for (size_t k = 0; k < c->n_columns; k++)
		ret[k] = c->totals[component * c->n_columns + k] * share;
}

/* Callees' components have smaller numbers: theirs are known. */
static void sum_components(struct call_shares *c)
{
	own(freep) uint32_t *order = xcalloc(c->nodes.n + 1, sizeof(*order));
	own(freep) uint32_t *starts = xcalloc(c->n_components + 2u, sizeof(*starts));
	own(freep) double *values = xcalloc(c->n_columns + 1, sizeof(*values));

	for (size_t f = 0; f < c->nodes.n; f++)
		starts[c->component[f] + 1]++;
	for (size_t i = 0; i < c->n_components; i++)
		starts[i + 1] += starts[i];
	for (uint32_t f = 0; f < c->nodes.n; f++)
		order[starts[c->component[f]]++] = f;
	for (size_t i = 0; i < c->nodes.n; i++) {
		uint32_t f = order[i];
		double *own = c->own + f * c->n_columns;
		double *total = c->totals + c->component[f] * c->n_columns;

		for (size_t k = c->first_site[f]; k < c->first_site[f + 1]; k++) {
			if (is_within(c, &c->sites.at[k]))
				continue;
			values_from_outside(c, &c->sites.at[k], values);
			for (size_t n = 0; n < c->n_columns; n++)
				own[n] += values[n];
		}
		for (size_t n = 0; n < c->n_columns; n++)
			total[n] += own[n];
	}
}

struct call_shares *call_shares_new(const struct profile *p, const struct input *s,
				    const struct block_graph *g)
{
	struct call_shares *c = xcalloc(1, sizeof(*c));
	size_t n;

	c->p = p;
	c->s = s;
	c->n_columns = s->n_columns;
	find_nodes(c, g);
	find_sites(c, g);
	n = c->nodes.n;
	c->component = xcalloc(n + 1, sizeof(uint32_t));
	find_components(c);
	c->entered_from_outside = xcalloc(n + 1, sizeof(double));
	c->circling = xcalloc(n + 1, sizeof(double));
	c->entered = xcalloc(c->n_components + 1u, sizeof(double));
	c->own = xcalloc(n * c->n_columns + 1, sizeof(double));
	c->totals = xcalloc(c->n_components * c->n_columns + 1, sizeof(double));
	count_entries(c);
	take_own(c);
	sum_components(c);
	return c;
}

size_t call_shares_n_sites(const struct call_shares *c)
{
	return c->sites.n;
}

const struct call_shares_site *call_shares_site(const struct call_shares *c, size_t i)
{
	return &c->sites.at[i];
}

/* In a circle, a function has what the others took as far as the circle was entered
 * there. */
static double from_others(const struct call_shares *c, uint32_t node, size_t column)
{
	uint32_t component = c->component[node];
	double entered = c->entered[component];
	double share = entered > 0 ? c->entered_from_outside[node] / entered : 0;

	return (c->totals[component * c->n_columns + column] -
		c->own[node * c->n_columns + column]) *
	       share;
}

void call_shares_values(const struct call_shares *c, size_t site, double *ret)
{
	const struct call_shares_site *x = &c->sites.at[site];

	if (!is_within(c, x)) {
		values_from_outside(c, x, ret);
		return;
	}
	for (size_t k = 0; k < c->n_columns; k++)
		ret[k] = from_others(c, x->from, k) * (double)x->times /
			 c->circling[x->from];
}

void call_shares_taken(const struct call_shares *c, size_t site, double *ret)
{
	const struct call_shares_site *x = &c->sites.at[site];

	for (size_t k = 0; k < c->n_columns; k++)
		ret[k] = (c->own[x->to * c->n_columns + k] + from_others(c, x->to, k)) *
			 (double)x->times / c->entered_by_node.at[x->to];
}
