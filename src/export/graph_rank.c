/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_rank.h"

#include <math.h>

#include "base/mem.h"

/* A row's width is that of a picture of this shape, at least a screen. */
#define SHAPE	 1.5
#define MIN_WIDE 1400.0
#define APART	 40.0

struct ranking {
	const struct graph *g;
	const struct graph_box *boxes;
	uint32_t *first, *out; /* ways by node: out[first[i]] to out[first[i + 1]] */
	uint32_t *sorted;      /* nodes, sources of forward ways before targets */
	bool *is_back;
	uint32_t *rows;
	double *taken;	/* of each row's width */
	uint32_t *next; /* a row, perhaps with room, that is not before this one */
	double width;
};

static void ranking_fini(struct ranking *r)
{
	free(r->first);
	free(r->out);
	free(r->sorted);
	free(r->taken);
	free(r->next);
}

static void list_ways(struct ranking *r)
{
	size_t n = r->g->nodes.n;

	for (size_t i = 0; i < r->g->ways.n; i++)
		r->first[r->g->ways.at[i].from + 1]++;
	for (size_t i = 0; i < n; i++)
		r->first[i + 1] += r->first[i];

	own(freep) uint32_t *at = xmemdup(r->first, (n + 1) * sizeof(*at));

	for (uint32_t i = 0; i < r->g->ways.n; i++)
		r->out[at[r->g->ways.at[i].from]++] = i;
}

enum { NEW, OPEN, DONE };

/* Depth first from one node; fills sorted[] from the end. */
static void walk(struct ranking *r, uint32_t root, uint8_t *state, uint32_t *stack,
		 uint32_t *at, uint32_t *n_left)
{
	uint32_t depth = 0;

	stack[depth++] = root;
	state[root] = OPEN;
	while (depth) {
		uint32_t node = stack[depth - 1];

		if (at[node] == r->first[node + 1]) {
			state[node] = DONE;
			r->sorted[--*n_left] = node;
			depth--;
			continue;
		}

		uint32_t way = r->out[at[node]++], to = r->g->ways.at[way].to;

		r->is_back[way] = state[to] == OPEN;
		if (state[to] == NEW) {
			state[to] = OPEN;
			stack[depth++] = to;
		}
	}
}

/* Entries come first, so that loops are entered where the program does. */
static void break_cycles(struct ranking *r)
{
	size_t n = r->g->nodes.n;
	own(freep) uint8_t *state = xcalloc(n, 1);
	own(freep) uint32_t *stack = xcalloc(n, sizeof(*stack));
	own(freep) uint32_t *at = xmemdup(r->first, (n + 1) * sizeof(*at));
	uint32_t n_left = (uint32_t)n;

	for (uint32_t i = 0; i < n; i++)
		if (r->g->nodes.at[i].kind == GRAPH_NODE_ENTRY && state[i] == NEW)
			walk(r, i, state, stack, at, &n_left);
	for (uint32_t i = 0; i < n; i++)
		if (state[i] == NEW)
			walk(r, i, state, stack, at, &n_left);
}

static void choose_width(struct ranking *r)
{
	double area = 0;

	r->width = MIN_WIDE;
	for (size_t i = 0; i < r->g->nodes.n; i++)
		area += (r->boxes[i].w + APART) * (r->boxes[i].h + APART);
	r->width = fmax(r->width, sqrt(area * SHAPE));
}

/* The first row from `row` on that has room; an empty one takes everything. */
static uint32_t find_room(struct ranking *r, uint32_t row, double w)
{
	uint32_t at = row;

	while (r->taken[at] > 0 && r->taken[at] + w > r->width)
		at = r->next[at];
	/* What has no room for the smallest node is passed over from now on. */
	uint32_t roomy = row;

	while (roomy < at && r->taken[roomy] + 2 * APART > r->width)
		roomy = r->next[roomy];
	while (row < roomy) {
		uint32_t after = r->next[row];

		r->next[row] = roomy;
		row = after;
	}
	return at;
}

static void put(struct ranking *r, uint32_t node, uint32_t row)
{
	r->rows[node] = row;
	r->taken[row] += r->boxes[node].w + APART;
}

/* As early as possible. */
static void rank_down(struct ranking *r)
{
	for (size_t i = 0; i < r->g->nodes.n; i++) {
		uint32_t node = r->sorted[i];
		uint32_t row = find_room(r, r->rows[node], r->boxes[node].w + APART);

		put(r, node, row);
		for (uint32_t k = r->first[node]; k < r->first[node + 1]; k++) {
			uint32_t to = r->g->ways.at[r->out[k]].to;

			if (!r->is_back[r->out[k]] && r->rows[to] <= row)
				r->rows[to] = row + 1;
		}
	}
}

/* Nodes with more ways out than in go as far down as they can: each row makes more of
 * the former shorter than of the latter longer. */
static void tighten(struct ranking *r)
{
	own(freep) uint32_t *n_in = xcalloc(r->g->nodes.n, sizeof(*n_in));

	for (size_t i = 0; i < r->g->ways.n; i++)
		if (!r->is_back[i])
			n_in[r->g->ways.at[i].to]++;
	for (size_t i = r->g->nodes.n; i-- > 0;) {
		uint32_t node = r->sorted[i], low = UINT32_MAX, n_out = 0;
		double w = r->boxes[node].w + APART;

		for (uint32_t k = r->first[node]; k < r->first[node + 1]; k++) {
			uint32_t row = r->rows[r->g->ways.at[r->out[k]].to];

			if (r->is_back[r->out[k]])
				continue;
			low = row < low ? row : low;
			n_out++;
		}
		if (n_out <= n_in[node] || low - 1 <= r->rows[node] ||
		    r->taken[low - 1] + w > r->width)
			continue;
		r->taken[r->rows[node]] -= w;
		put(r, node, low - 1);
	}
}

static uint32_t close_gaps(struct ranking *r)
{
	size_t n = r->g->nodes.n;
	own(freep) uint32_t *number = xcalloc(n + 1, sizeof(*number));
	uint32_t n_rows = 0;

	for (size_t i = 0; i < n; i++)
		number[r->rows[i]] = 1;
	for (size_t i = 0; i < n; i++)
		if (number[i])
			number[i] = n_rows++;
	for (size_t i = 0; i < n; i++)
		r->rows[i] = number[r->rows[i]];
	return n_rows;
}

uint32_t graph_rank_assign(const struct graph *g, const struct graph_box *boxes,
			   uint32_t *rows, bool *is_back)
{
	size_t n = g->nodes.n;
	own(ranking_fini) struct ranking r = {
		.g = g,
		.boxes = boxes,
		.first = xcalloc(n + 2, sizeof(*r.first)),
		.out = xcalloc(g->ways.n + 1, sizeof(*r.out)),
		.sorted = xcalloc(n + 1, sizeof(*r.sorted)),
		.taken = xcalloc(n + 1, sizeof(*r.taken)),
		.next = xcalloc(n + 1, sizeof(*r.next)),
		.rows = rows,
		.is_back = is_back,
	};

	for (uint32_t i = 0; i <= n; i++)
		r.next[i] = i + 1;
	for (size_t i = 0; i < n; i++)
		rows[i] = 0;
	list_ways(&r);
	break_cycles(&r);
	choose_width(&r);
	rank_down(&r);
	tighten(&r);
	return close_gaps(&r);
}
