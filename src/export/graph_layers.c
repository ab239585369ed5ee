/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_layers.h"

#include "base/mem.h"
#include "export/graph_rank.h"

/* What bounds memory and time: functions of thousands of blocks with ways across all
 * of them would need millions. */
#define MAX_BENDS  200000
#define BEND_WIDTH 12.0

/* Layers that a way occupies besides those of its nodes.  There is a layer above the
 * first row and one below the last, for turns. */
static uint32_t bends_of(const struct graph_way *w, const uint32_t *rows, bool is_back)
{
	return is_back ? rows[w->from] - rows[w->to] + 3
		       : rows[w->to] - rows[w->from] - 1;
}

/* The most bends a way may have so that all together are at most MAX_BENDS. */
static uint32_t longest_run(const struct graph *g, const uint32_t *rows,
			    const bool *is_back, uint32_t n_rows)
{
	own(freep) uint32_t *n_of = xcalloc(n_rows + 4, sizeof(*n_of));
	uint64_t sum = 0;

	for (size_t i = 0; i < g->ways.n; i++)
		n_of[bends_of(&g->ways.at[i], rows, is_back[i])]++;
	for (uint32_t n = 0; n < n_rows + 4; n++) {
		sum += (uint64_t)n * n_of[n];
		if (sum > MAX_BENDS)
			return n ? n - 1 : 0;
	}
	return n_rows + 4;
}

static void link_cells(struct graph_layers *l, uint32_t upper, uint32_t lower)
{
	*vec_push(&l->links) = (struct graph_link){ .upper = upper, .lower = lower };
}

static uint32_t add_bend(struct graph_layers *l, uint32_t layer)
{
	*vec_push(&l->cells) = (struct graph_cell){ .layer = layer, .w = BEND_WIDTH };
	return (uint32_t)(l->cells.n - 1);
}

static void run_on(struct graph_layers *l, const struct graph_way *w, uint32_t n)
{
	uint32_t before = w->from, layer = l->cells.at[w->from].layer;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t bend = add_bend(l, layer + 1 + i);

		link_cells(l, before, bend);
		before = bend;
	}
	link_cells(l, before, w->to);
}

static void run_back(struct graph_layers *l, const struct graph_way *w, uint32_t n)
{
	uint32_t layer = l->cells.at[w->from].layer + 1, turn = add_bend(l, layer);
	uint32_t before = turn;

	link_cells(l, w->from, turn);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t bend = add_bend(l, layer - i);

		link_cells(l, bend, before);
		before = bend;
	}
	link_cells(l, before, w->to);
}

static void add_runs(struct graph_layers *l, const struct graph *g, const uint32_t *rows,
		     const bool *is_back, uint32_t n_rows)
{
	uint32_t longest = longest_run(g, rows, is_back, n_rows);

	l->runs = xcalloc(g->ways.n + 1, sizeof(*l->runs));
	for (size_t i = 0; i < g->ways.n; i++) {
		const struct graph_way *w = &g->ways.at[i];
		uint32_t n = bends_of(w, rows, is_back[i]);
		struct graph_run *run = &l->runs[i];

		run->is_back = is_back[i];
		run->is_cut = n > longest;
		run->first = (uint32_t)l->cells.n;
		l->n_cut += run->is_cut;
		if (run->is_cut)
			continue;
		run->n = n;
		(run->is_back ? run_back : run_on)(l, w, n);
	}
}

static void list_links(struct graph_layers *l)
{
	size_t n = l->cells.n;

	l->first_down = xcalloc(n + 2, sizeof(*l->first_down));
	l->first_up = xcalloc(n + 2, sizeof(*l->first_up));
	l->down = xcalloc(l->links.n + 1, sizeof(*l->down));
	l->up = xcalloc(l->links.n + 1, sizeof(*l->up));
	vec_each(k, &l->links) {
		l->first_down[k->upper + 1]++;
		l->first_up[k->lower + 1]++;
	}
	for (size_t i = 0; i < n; i++) {
		l->first_down[i + 1] += l->first_down[i];
		l->first_up[i + 1] += l->first_up[i];
	}

	own(freep) uint32_t *down = xmemdup(l->first_down, (n + 1) * sizeof(*down));
	own(freep) uint32_t *up = xmemdup(l->first_up, (n + 1) * sizeof(*up));

	for (uint32_t i = 0; i < l->links.n; i++) {
		l->down[down[l->links.at[i].upper]++] = i;
		l->up[up[l->links.at[i].lower]++] = i;
	}
}

struct filling {
	struct graph_layers *l;
	uint32_t *stack, *at, *n_in;
	bool *is_seen;
};

static void filling_fini(struct filling *f)
{
	free(f->stack);
	free(f->at);
	free(f->n_in);
	free(f->is_seen);
}

static void place(struct filling *f, uint32_t cell)
{
	uint32_t layer = f->l->cells.at[cell].layer;

	f->is_seen[cell] = true;
	f->l->cells.at[cell].position = f->n_in[layer];
	f->l->order[f->l->start[layer] + f->n_in[layer]++] = cell;
}

static void fill_from(struct filling *f, uint32_t root)
{
	struct graph_layers *l = f->l;
	size_t depth = 0;

	if (f->is_seen[root])
		return;
	place(f, root);
	f->stack[depth++] = root;
	while (depth) {
		uint32_t cell = f->stack[depth - 1];
		uint32_t i = l->first_down[cell] + f->at[cell];

		if (i >= l->first_down[cell + 1]) {
			depth--;
			continue;
		}
		f->at[cell]++;

		uint32_t to = l->links.at[l->down[i]].lower;

		if (f->is_seen[to])
			continue;
		place(f, to);
		f->stack[depth++] = to;
	}
}

/* A first order: as a walk from the top meets them. */
static void fill_layers(struct graph_layers *l)
{
	size_t n = l->cells.n;
	own(filling_fini) struct filling f = {
		.l = l,
		.stack = xcalloc(n + 1, sizeof(*f.stack)),
		.at = xcalloc(n + 1, sizeof(*f.at)),
		.n_in = xcalloc(l->n_layers + 1, sizeof(*f.n_in)),
		.is_seen = xcalloc(n + 1, sizeof(*f.is_seen)),
	};

	l->order = xcalloc(n + 1, sizeof(*l->order));
	l->start = xcalloc(l->n_layers + 1, sizeof(*l->start));
	vec_each(c, &l->cells)
		l->start[c->layer + 1]++;
	for (size_t i = 0; i < l->n_layers; i++)
		l->start[i + 1] += l->start[i];
	for (uint32_t i = 0; i < l->n_nodes; i++)
		fill_from(&f, i);
	for (uint32_t i = (uint32_t)l->n_nodes; i < n; i++)
		fill_from(&f, i);
}

void graph_layers_init(struct graph_layers *l, const struct graph *g,
		       const struct graph_box *boxes)
{
	own(freep) uint32_t *rows = xcalloc(g->nodes.n + 1, sizeof(*rows));
	own(freep) bool *is_back = xcalloc(g->ways.n + 1, sizeof(*is_back));
	uint32_t n_rows = graph_rank_assign(g, boxes, rows, is_back);

	*l = (struct graph_layers){ .n_nodes = g->nodes.n, .n_layers = n_rows + 2 };
	for (size_t i = 0; i < g->nodes.n; i++)
		*vec_push(&l->cells) = (struct graph_cell){
			.layer = rows[i] + 1,
			.w = boxes[i].w,
		};
	add_runs(l, g, rows, is_back, n_rows);
	list_links(l);
	fill_layers(l);
}

void graph_layers_fini(struct graph_layers *l)
{
	vec_fini(&l->cells);
	vec_fini(&l->links);
	free(l->runs);
	free(l->order);
	free(l->start);
	free(l->down);
	free(l->first_down);
	free(l->up);
	free(l->first_up);
}
