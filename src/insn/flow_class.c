/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/flow_class.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/vec.h"

#define NO_EDGE UINT32_MAX

struct edge {
	uint32_t from, to; /* nodes */
};

/* Block b is the edge from node 2b to 2b + 1, and so is what is outside, the last.  The
 * edges are the blocks, outside, the ways, and those that close the graph. */
struct graph {
	VEC(struct edge) edges;
	uint32_t n_blocks, n_nodes;
	uint32_t *first; /* [node] of its edges */
	uint32_t *at;	 /* edges of all nodes, each at both ends */
	uint32_t *stack; /* [node] */
	uint64_t *label; /* [edge] */
};

static void graph_finip(struct graph *g)
{
	vec_fini(&g->edges);
	free(g->first);
	free(g->at);
	free(g->stack);
	free(g->label);
}

static void add_edge(struct graph *g, uint32_t from, uint32_t to)
{
	*vec_push(&g->edges) = (struct edge){ from, to };
}

/* From the end of a block to the start of one. */
static void add_way(struct graph *g, uint32_t from, uint32_t to)
{
	from = from == FLOW_CLASS_OUTSIDE ? g->n_blocks : from;
	to = to == FLOW_CLASS_OUTSIDE ? g->n_blocks : to;
	add_edge(g, 2 * from + 1, 2 * to);
}

static void list_edges(struct graph *g)
{
	free(g->first);
	free(g->at);
	g->first = xcalloc((size_t)g->n_nodes + 2, sizeof(*g->first));
	g->at = xcalloc(2 * g->edges.n, sizeof(*g->at));
	vec_each(e, &g->edges) {
		g->first[e->from + 2]++;
		g->first[e->to + 2]++;
	}
	for (uint32_t i = 2; i < g->n_nodes + 2; i++)
		g->first[i] += g->first[i - 1];
	for (uint32_t i = 0; i < g->edges.n; i++) {
		g->at[g->first[g->edges.at[i].from + 1]++] = i;
		g->at[g->first[g->edges.at[i].to + 1]++] = i;
	}
}

/* Marks all nodes that a node leads to (or from which something leads to it). */
static void reach(struct graph *g, uint32_t node, bool is_backwards, bool *reached)
{
	uint32_t n = 0;

	if (reached[node])
		return;
	reached[node] = true;
	g->stack[n++] = node;
	while (n) {
		uint32_t from = g->stack[--n];

		for (uint32_t i = g->first[from]; i < g->first[from + 1]; i++) {
			const struct edge *e = &g->edges.at[g->at[i]];
			uint32_t to = is_backwards ? e->from : e->to;

			if ((is_backwards ? e->to : e->from) != from || reached[to])
				continue;
			reached[to] = true;
			g->stack[n++] = to;
		}
	}
}

/* A way from outside to each block that none leads to from there, and back: then all is
 * strongly connected, and only then cycles without directions are those with. */
static void close_graph(struct graph *g)
{
	for (int is_backwards = 0; is_backwards < 2; is_backwards++) {
		bool *reached = xcalloc(g->n_nodes, sizeof(*reached));

		reach(g, 2 * g->n_blocks, is_backwards, reached);
		reach(g, 2 * g->n_blocks + 1, is_backwards, reached);
		for (uint32_t i = 0; i < g->n_blocks; i++) {
			if (reached[2 * i])
				continue;
			if (is_backwards)
				add_way(g, i, FLOW_CLASS_OUTSIDE);
			else
				add_way(g, FLOW_CLASS_OUTSIDE, i);
			reach(g, 2 * i + (uint32_t)is_backwards, is_backwards, reached);
		}
		free(reached);
	}
	list_edges(g);
}

struct tree {
	uint32_t *order; /* nodes, parents first */
	uint32_t *edge;	 /* [node] the one that it is found by, NO_EDGE */
	uint32_t n;
};

/* A spanning tree, without directions. */
static void span(const struct graph *g, struct tree *t)
{
	t->order = xcalloc(g->n_nodes, sizeof(*t->order));
	t->edge = xcalloc(g->n_nodes, sizeof(*t->edge));
	for (uint32_t i = 0; i < g->n_nodes; i++)
		t->edge[i] = NO_EDGE;
	t->order[t->n++] = 2 * g->n_blocks;
	for (uint32_t k = 0; k < t->n; k++) {
		uint32_t node = t->order[k];

		for (uint32_t i = g->first[node]; i < g->first[node + 1]; i++) {
			const struct edge *e = &g->edges.at[g->at[i]];
			uint32_t to = e->from == node ? e->to : e->from;

			if (t->edge[to] != NO_EDGE || to == t->order[0])
				continue;
			t->edge[to] = g->at[i];
			t->order[t->n++] = to;
		}
	}
}

/* A number as good as a random one (splitmix64). */
static uint64_t number(uint64_t i)
{
	i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
	i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
	return i ^ i >> 31;
}

/* Two edges are on the same cycles if and, but for chance in 2^64, only if their labels
 * are equal: those of the edges around any set of nodes add up to nothing. */
static void label_edges(struct graph *g)
{
	struct tree t = { 0 };
	uint64_t *sum = xcalloc(g->n_nodes, sizeof(*sum));

	g->label = xcalloc(g->edges.n, sizeof(*g->label));
	span(g, &t);
	for (uint32_t i = 0; i < g->edges.n; i++) {
		const struct edge *e = &g->edges.at[i];

		if (t.edge[e->from] == i || t.edge[e->to] == i)
			continue;
		g->label[i] = number(i);
		sum[e->from] ^= g->label[i];
		sum[e->to] ^= g->label[i];
	}
	for (uint32_t k = t.n; k-- > 1;) {
		uint32_t node = t.order[k];
		const struct edge *e = &g->edges.at[t.edge[node]];

		g->label[t.edge[node]] = sum[node];
		sum[e->from == node ? e->to : e->from] ^= sum[node];
	}
	free(sum);
	free(t.order);
	free(t.edge);
}

static void build(struct graph *g, uint32_t n_blocks, const uint8_t *open,
		  const struct flow_class_way *ways, uint32_t n_ways)
{
	g->n_blocks = n_blocks;
	g->n_nodes = 2 * n_blocks + 2;
	g->stack = xcalloc(g->n_nodes, sizeof(*g->stack));
	for (uint32_t i = 0; i <= n_blocks; i++)
		add_edge(g, 2 * i, 2 * i + 1);
	for (uint32_t i = 0; i < n_ways; i++)
		add_way(g, ways[i].from, ways[i].to);
	for (uint32_t i = 0; open && i < n_blocks; i++) {
		if (open[i] & FLOW_CLASS_OPEN_IN)
			add_way(g, FLOW_CLASS_OUTSIDE, i);
		if (open[i] & FLOW_CLASS_OPEN_OUT)
			add_way(g, i, FLOW_CLASS_OUTSIDE);
	}
	list_edges(g);
	close_graph(g);
}

static uint32_t class_of(struct flow_class *c, struct map *numbers, uint64_t label)
{
	uint64_t *slot = map_slot(numbers, label, NULL);

	if (!*slot)
		*slot = ++c->n_classes;
	return (uint32_t)*slot - 1;
}

void flow_class_make(struct flow_class *ret, uint32_t n_blocks, const uint8_t *open,
		     const struct flow_class_way *ways, uint32_t n_ways)
{
	own(graph_finip) struct graph g = { 0 };
	struct map numbers = { 0 };

	*ret = (struct flow_class){
		.of_block = xcalloc((size_t)n_blocks + 1, sizeof(*ret->of_block)),
		.of_way = xcalloc((size_t)n_ways + 1, sizeof(*ret->of_way)),
	};
	build(&g, n_blocks, open, ways, n_ways);
	label_edges(&g);
	for (uint32_t i = 0; i < n_blocks; i++)
		ret->of_block[i] = class_of(ret, &numbers, g.label[i]);
	for (uint32_t i = 0; i < n_ways; i++)
		ret->of_way[i] = class_of(ret, &numbers, g.label[n_blocks + 1 + i]);
	ret->of_outside = class_of(ret, &numbers, g.label[n_blocks]);
	map_fini(&numbers);
}

void flow_class_fini(struct flow_class *c)
{
	free(c->of_block);
	free(c->of_way);
	*c = (struct flow_class){ 0 };
}

void flow_class_finip(struct flow_class *c)
{
	flow_class_fini(c);
}
