/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_layers.h"

#include "base/mem.h"
#include "export/graph_rank.h"

/* What bounds memory and time: functions of thousands of blocks with ways across all
 * of them would need millions. */
#define MAX_BENDS  200000
#define BEND_WIDTH 12.0
/* So many long ways of one node are drawn as one trunk. */
#define TRUNK_WAYS 5

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

/* Ways that share a trunk: those that leave one node, or come to one, if they are
 * many. */
enum trunk_kind {
	TRUNK_OUT,  /* down from a source */
	TRUNK_IN,   /* down to a target */
	TRUNK_BACK, /* up to a target */
	N_TRUNK_KINDS,
};

struct trunk {
	uint32_t n_ways;
	uint32_t first, n; /* its bends, in the ways' direction */
};

struct running {
	struct graph_layers *l;
	const struct graph *g;
	struct trunk *trunks[N_TRUNK_KINDS]; /* of each node */
};

static void running_fini(struct running *r)
{
	for (size_t i = 0; i < N_TRUNK_KINDS; i++)
		free(r->trunks[i]);
}

/* The trunk that a way belongs to, or NULL if it runs alone. */
static struct trunk *trunk_of(const struct running *r, size_t way)
{
	const struct graph_way *w = &r->g->ways.at[way];
	const struct graph_run *run = &r->l->runs[way];
	struct trunk *out = &r->trunks[TRUNK_OUT][w->from];
	struct trunk *in = &r->trunks[TRUNK_IN][w->to];
	struct trunk *t = out->n_ways >= in->n_ways ? out : in;

	if (run->n == 0 || run->is_cut)
		return NULL;
	if (run->is_back)
		t = &r->trunks[TRUNK_BACK][w->to];
	return t->n_ways >= TRUNK_WAYS ? t : NULL;
}

/* First who would share, then how long the shared part is, for those who do. */
static void plan_trunks(struct running *r)
{
	for (size_t i = 0; i < N_TRUNK_KINDS; i++)
		r->trunks[i] = xcalloc(r->g->nodes.n + 1, sizeof(*r->trunks[i]));
	for (size_t i = 0; i < r->g->ways.n; i++) {
		const struct graph_way *w = &r->g->ways.at[i];
		const struct graph_run *run = &r->l->runs[i];

		if (run->n == 0 || run->is_cut)
			continue;
		if (run->is_back) {
			r->trunks[TRUNK_BACK][w->to].n_ways++;
		} else {
			r->trunks[TRUNK_OUT][w->from].n_ways++;
			r->trunks[TRUNK_IN][w->to].n_ways++;
		}
	}
	for (size_t i = 0; i < r->g->ways.n; i++) {
		struct trunk *t = trunk_of(r, i);

		if (t && r->l->runs[i].n > t->n)
			t->n = r->l->runs[i].n;
	}
}

/* n bends, each in the layer after that of the one before: by is_up, above or below. */
static uint32_t add_bends(struct graph_layers *l, uint32_t layer, uint32_t n, bool is_up)
{
	uint32_t first = (uint32_t)l->cells.n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t bend = add_bend(l, is_up ? layer - i : layer + i);

		if (i && is_up)
			link_cells(l, bend, bend - 1);
		else if (i)
			link_cells(l, bend - 1, bend);
	}
	return first;
}

static void add_trunks(struct running *r)
{
	struct graph_layers *l = r->l;

	for (uint32_t i = 0; i < l->n_nodes; i++) {
		uint32_t layer = l->cells.at[i].layer;
		struct trunk *out = &r->trunks[TRUNK_OUT][i];
		struct trunk *in = &r->trunks[TRUNK_IN][i];
		struct trunk *back = &r->trunks[TRUNK_BACK][i];

		if (out->n) {
			out->first = add_bends(l, layer + 1, out->n, false);
			link_cells(l, i, out->first);
		}
		if (in->n) {
			in->first = add_bends(l, layer - in->n, in->n, false);
			link_cells(l, in->first + in->n - 1, i);
		}
		if (back->n) {
			back->first = add_bends(l, layer + back->n - 2, back->n, true);
			link_cells(l, back->first + back->n - 1, i);
		}
	}
}

/* A part of the trunk's bends, at the end where all of its ways meet. */
static void join_trunk(struct running *r, const struct graph_way *w,
		       struct graph_run *run, const struct trunk *t)
{
	if (t == &r->trunks[TRUNK_OUT][w->from]) {
		run->first = t->first;
		link_cells(r->l, run->first + run->n - 1, w->to);
	} else {
		run->first = t->first + t->n - run->n;
		link_cells(r->l, w->from, run->first);
	}
}

static void run_alone(struct graph_layers *l, const struct graph_way *w,
		      struct graph_run *run)
{
	uint32_t layer = l->cells.at[w->from].layer + 1;

	run->first = add_bends(l, layer, run->n, run->is_back);
	if (run->n) {
		link_cells(l, w->from, run->first);
		link_cells(l, run->first + run->n - 1, w->to);
	} else {
		link_cells(l, w->from, w->to);
	}
}

static void add_runs(struct graph_layers *l, const struct graph *g, const uint32_t *rows,
		     const bool *is_back, uint32_t n_rows)
{
	own(running_fini) struct running r = { .l = l, .g = g };
	uint32_t longest = longest_run(g, rows, is_back, n_rows);

	l->runs = xcalloc(g->ways.n + 1, sizeof(*l->runs));
	for (size_t i = 0; i < g->ways.n; i++) {
		uint32_t n = bends_of(&g->ways.at[i], rows, is_back[i]);

		l->runs[i].is_back = is_back[i];
		l->runs[i].is_cut = n > longest;
		l->runs[i].n = n > longest ? 0 : n;
		l->n_cut += n > longest;
	}
	plan_trunks(&r);
	add_trunks(&r);
	for (size_t i = 0; i < g->ways.n; i++) {
		const struct trunk *t = trunk_of(&r, i);

		if (t)
			join_trunk(&r, &g->ways.at[i], &l->runs[i], t);
		else if (!l->runs[i].is_cut)
			run_alone(l, &g->ways.at[i], &l->runs[i]);
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
