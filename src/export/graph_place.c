/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_place.h"

#include <math.h>

#include "base/mem.h"

#define NODES_APART 26.0 /* from border to border */
#define BENDS_APART 2.0
#define NARROWER    0.7 /* from this part of the width on, narrow is better than fair */

/* One of four: cells are aligned with those above or below, and pushed to the left or
 * to the right.  Right is left in a mirror. */
struct attempt {
	const struct graph_layers *l;
	const bool *is_conflict; /* of each link */
	bool is_up, is_mirrored;
	uint32_t *root;	 /* of each cell: the block of cells that stand straight */
	uint32_t *align; /* the next of that block, the root after the last */
	uint32_t *n_before, *queue;
	double *x; /* of each block, at its root; of each cell in the end */
};

static bool is_bend(const struct graph_layers *l, uint32_t cell)
{
	return cell >= l->n_nodes;
}

/* Links from node to anything that cross one from bend to bend give way to it. */
static void find_conflicts(const struct graph_layers *l, size_t lower, bool *ret)
{
	uint32_t from = 0, n = (uint32_t)graph_layers_width(l, lower);
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t cell = l->order[l->start[lower] + i], inner = UINT32_MAX;
		uint32_t right = (uint32_t)graph_layers_width(l, lower - 1);

		for (uint32_t k = l->first_up[cell];
		     is_bend(l, cell) && k < l->first_up[cell + 1]; k++)
			if (is_bend(l, l->links.at[l->up[k]].upper))
				inner = l->links.at[l->up[k]].upper;
		if (inner != UINT32_MAX)
			right = l->cells.at[inner].position;
		else if (i + 1 < n)
			continue;
		for (; from <= i; from++) {
			uint32_t c = l->order[l->start[lower] + from];

			for (uint32_t k = l->first_up[c]; k < l->first_up[c + 1]; k++) {
				uint32_t u = l->links.at[l->up[k]].upper;
				uint32_t at = l->cells.at[u].position;

				if ((at < left || at > right) &&
				    !(is_bend(l, u) && is_bend(l, c)))
					ret[l->up[k]] = true;
			}
		}
		left = right;
	}
}

/* The same for links that leave or reach a trunk, which goes straight on. */
static void spare_trunks(const struct graph_layers *l, bool *ret)
{
	own(freep) bool *goes_up = xcalloc(l->cells.n + 1, sizeof(*goes_up));
	own(freep) bool *goes_down = xcalloc(l->cells.n + 1, sizeof(*goes_down));

	vec_each(k, &l->links) {
		if (is_bend(l, k->upper) && is_bend(l, k->lower))
			goes_down[k->upper] = goes_up[k->lower] = true;
	}
	for (size_t i = 0; i < l->links.n; i++) {
		const struct graph_link *k = &l->links.at[i];

		if (!(is_bend(l, k->upper) && is_bend(l, k->lower)) &&
		    (goes_down[k->upper] || goes_up[k->lower]))
			ret[i] = true;
	}
}

static uint32_t position_of(const struct attempt *a, uint32_t cell)
{
	const struct graph_cell *c = &a->l->cells.at[cell];
	uint32_t n = (uint32_t)graph_layers_width(a->l, c->layer);

	return a->is_mirrored ? n - 1 - c->position : c->position;
}

static uint32_t cell_at(const struct attempt *a, size_t layer, uint32_t position)
{
	uint32_t n = (uint32_t)graph_layers_width(a->l, layer);

	return a->l->order[a->l->start[layer] +
			   (a->is_mirrored ? n - 1 - position : position)];
}

struct neighbour {
	uint32_t position, cell, link;
};

static int by_position(const void *pa, const void *pb)
{
	const struct neighbour *a = pa, *b = pb;

	if (a->position != b->position)
		return a->position < b->position ? -1 : 1;
	return (a->link > b->link) - (a->link < b->link);
}

static size_t list_neighbours(const struct attempt *a, uint32_t cell,
			      struct neighbour *ret)
{
	const uint32_t *first = a->is_up ? a->l->first_up : a->l->first_down;
	const uint32_t *links = a->is_up ? a->l->up : a->l->down;
	size_t n = 0;

	for (uint32_t i = first[cell]; i < first[cell + 1]; i++) {
		const struct graph_link *k = &a->l->links.at[links[i]];
		uint32_t other = a->is_up ? k->upper : k->lower;

		ret[n++] = (struct neighbour){ position_of(a, other), other, links[i] };
	}
	if (n > 1)
		qsort(ret, n, sizeof(*ret), by_position);
	return n;
}

/* The neighbours to align with: the medians, but bends with bends only if there are. */
static void choose_neighbours(const struct attempt *a, uint32_t cell,
			      const struct neighbour *near, size_t n, size_t *first,
			      size_t *end)
{
	*first = n ? (n - 1) / 2 : 0;
	*end = n ? n / 2 + 1 : 0;
	for (size_t i = 0; i < n && is_bend(a->l, cell); i++) {
		if (is_bend(a->l, near[i].cell)) {
			*first = i;
			*end = i + 1;
		}
	}
}

/* As long as these lines do not cross. */
static void align_layer(struct attempt *a, size_t layer, struct neighbour *room)
{
	int64_t last = -1;

	for (uint32_t i = 0; i < graph_layers_width(a->l, layer); i++) {
		uint32_t cell = cell_at(a, layer, i);
		size_t n = list_neighbours(a, cell, room), m, end;

		for (choose_neighbours(a, cell, room, n, &m, &end); m < end; m++) {
			uint32_t other = room[m].cell;

			if (a->align[cell] != cell || a->is_conflict[room[m].link] ||
			    last >= room[m].position)
				continue;
			a->align[other] = cell;
			a->root[cell] = a->root[other];
			a->align[cell] = a->root[cell];
			last = room[m].position;
		}
	}
}

/* The cell after this one in its layer, or UINT32_MAX. */
static uint32_t next_cell(const struct attempt *a, uint32_t cell)
{
	uint32_t layer = a->l->cells.at[cell].layer, at = position_of(a, cell) + 1;

	return at < graph_layers_width(a->l, layer) ? cell_at(a, layer, at) : UINT32_MAX;
}

static double apart(const struct graph_layers *l, uint32_t left, uint32_t right)
{
	double gap = is_bend(l, left) && is_bend(l, right)   ? BENDS_APART
		     : is_bend(l, left) || is_bend(l, right) ? NODES_APART / 2
							     : NODES_APART;

	return gap + (l->cells.at[left].w + l->cells.at[right].w) / 2;
}

/* Blocks so that those before come first; returns how many. */
static size_t sort_blocks(struct attempt *a)
{
	size_t n = a->l->cells.n, n_queue = 0;

	for (uint32_t c = 0; c < n; c++)
		a->n_before[c] = 0;
	for (uint32_t c = 0; c < n; c++)
		if (position_of(a, c) > 0)
			a->n_before[a->root[c]]++;
	for (uint32_t c = 0; c < n; c++)
		if (a->root[c] == c && a->n_before[c] == 0)
			a->queue[n_queue++] = c;
	for (size_t i = 0; i < n_queue; i++) {
		uint32_t root = a->queue[i], c = root;

		do {
			uint32_t after = next_cell(a, c);

			if (after != UINT32_MAX && --a->n_before[a->root[after]] == 0)
				a->queue[n_queue++] = a->root[after];
			c = a->align[c];
		} while (c != root);
	}
	return n_queue;
}

/* As far left as blocks go, then back to the right where there is room. */
static void push_blocks(struct attempt *a)
{
	size_t n = sort_blocks(a);

	for (size_t i = 0; i < a->l->cells.n; i++)
		a->x[i] = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t root = a->queue[i], c = root;

		do {
			uint32_t after = next_cell(a, c);

			if (after != UINT32_MAX)
				a->x[a->root[after]] =
					fmax(a->x[a->root[after]],
					     a->x[root] + apart(a->l, c, after));
			c = a->align[c];
		} while (c != root);
	}
	for (size_t i = n; i-- > 0;) {
		uint32_t root = a->queue[i], c = root;
		double least = INFINITY;

		do {
			uint32_t after = next_cell(a, c);

			if (after != UINT32_MAX)
				least = fmin(least, a->x[a->root[after]] -
							    apart(a->l, c, after));
			c = a->align[c];
		} while (c != root);
		if (least < INFINITY)
			a->x[root] = fmax(a->x[root], least);
	}
	for (size_t i = 0; i < a->l->cells.n; i++)
		if (a->root[i] != i)
			a->x[i] = a->x[a->root[i]];
}

static void try(struct attempt *a, struct neighbour *room)
{
	size_t n = a->l->cells.n, n_layers = a->l->n_layers;

	for (uint32_t c = 0; c < n; c++)
		a->root[c] = a->align[c] = c;
	for (size_t i = 1; i < n_layers; i++)
		align_layer(a, a->is_up ? i : n_layers - 1 - i, room);
	push_blocks(a);
	for (size_t i = 0; i < n && a->is_mirrored; i++)
		a->x[i] = -a->x[i];
}

static void borders(const struct graph_layers *l, const double *x, double *left,
		    double *right)
{
	*left = INFINITY;
	*right = -INFINITY;
	for (size_t i = 0; i < l->cells.n; i++) {
		*left = fmin(*left, x[i] - l->cells.at[i].w / 2);
		*right = fmax(*right, x[i] + l->cells.at[i].w / 2);
	}
}

/* All four to the borders of the narrowest, which is returned. */
static size_t bring_together(const struct graph_layers *l, double *const x[4])
{
	double left[4], right[4];
	size_t least = 0;

	for (size_t i = 0; i < 4; i++) {
		borders(l, x[i], &left[i], &right[i]);
		if (right[i] - left[i] < right[least] - left[least])
			least = i;
	}
	for (size_t i = 0; i < 4; i++) {
		double by = i & 1 ? right[least] - right[i] : left[least] - left[i];

		for (size_t c = 0; c < l->cells.n; c++)
			x[i][c] += by;
	}
	return least;
}

static double middle(double a, double b, double c, double d)
{
	double low = fmin(fmin(a, b), fmin(c, d)), high = fmax(fmax(a, b), fmax(c, d));

	return (a + b + c + d - low - high) / 2;
}

/* The means of the two in the middle, which are the fairest to all neighbours, unless
 * the picture is much wider than it need be. */
static void take_medians(struct graph_layers *l, double *const x[4])
{
	size_t n = l->cells.n, least = bring_together(l, x);
	own(freep) double *medians = xcalloc(n + 1, sizeof(*medians));
	const double *taken = medians;
	double left, right, least_left, least_right;

	for (size_t i = 0; i < n; i++)
		medians[i] = middle(x[0][i], x[1][i], x[2][i], x[3][i]);
	borders(l, medians, &left, &right);
	borders(l, x[least], &least_left, &least_right);
	if ((right - left) * NARROWER > least_right - least_left) {
		taken = x[least];
		left = least_left;
	}
	for (size_t i = 0; i < n; i++)
		l->cells.at[i].x = taken[i] - left;
}

void graph_place_cells(struct graph_layers *l)
{
	size_t n = l->cells.n;
	own(freep) bool *is_conflict = xcalloc(l->links.n + 1, sizeof(*is_conflict));
	own(freep) uint32_t *room = xcalloc(4 * (n + 1), sizeof(*room));
	own(freep) struct neighbour *near = xcalloc(l->links.n + 1, sizeof(*near));
	own(freep) double *xs = xcalloc(4 * (n + 1), sizeof(*xs));
	double *const x[4] = { xs, xs + n, xs + 2 * n, xs + 3 * n };

	for (size_t i = 1; i < l->n_layers; i++)
		find_conflicts(l, i, is_conflict);
	spare_trunks(l, is_conflict);
	for (size_t i = 0; i < 4; i++) {
		struct attempt a = {
			.l = l,
			.is_conflict = is_conflict,
			.is_up = i < 2,
			.is_mirrored = i & 1,
			.root = room,
			.align = room + n,
			.n_before = room + 2 * n,
			.queue = room + 3 * n,
			.x = x[i],
		};

		try(&a, near);
	}
	take_medians(l, x);
}
