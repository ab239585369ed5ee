/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_order.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define MAX_SWEEPS 24
#define MIN_SWEEPS 2
#define PATIENCE   6 /* sweeps without progress */
/* Cells and links visited in all: about a second. */
#define MAX_WORK 2500000
/* Of links of two cells that change places. */
#define MAX_PAIRS   400
#define SWAP_PASSES 4

struct ranked {
	double key;
	uint32_t position, cell;
};

static int by_key(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->position > b->position) - (a->position < b->position);
}

static void set_layer(struct graph_layers *l, size_t layer, const uint32_t *cells)
{
	uint32_t *order = &l->order[l->start[layer]];

	for (uint32_t i = 0; i < graph_layers_width(l, layer); i++) {
		order[i] = cells[i];
		l->cells.at[cells[i]].position = i;
	}
}

static uint32_t neighbour(const struct graph_layers *l, uint32_t link, bool is_up)
{
	const struct graph_link *k = &l->links.at[link];

	return l->cells.at[is_up ? k->upper : k->lower].position;
}

/* The mean of the neighbours' positions; false if there are none. */
static bool barycentre(const struct graph_layers *l, uint32_t cell, bool is_up,
		       double *ret)
{
	const uint32_t *first = is_up ? l->first_up : l->first_down;
	const uint32_t *links = is_up ? l->up : l->down;
	uint32_t n = first[cell + 1] - first[cell];
	double sum = 0;

	for (uint32_t i = first[cell]; i < first[cell + 1]; i++)
		sum += neighbour(l, links[i], is_up);
	*ret = n ? sum / n : 0;
	return n > 0;
}

/* By the neighbours above or below, whose order stays; cells that have none stay, too. */
static void sort_layer(struct graph_layers *l, size_t layer, bool is_up,
		       struct ranked *room, uint32_t *cells)
{
	uint32_t n = (uint32_t)graph_layers_width(l, layer), n_moved = 0, at = 0;
	const uint32_t *order = &l->order[l->start[layer]];

	for (uint32_t i = 0; i < n; i++) {
		double key;

		cells[i] = UINT32_MAX;
		if (barycentre(l, order[i], is_up, &key))
			room[n_moved++] = (struct ranked){ key, i, order[i] };
		else
			cells[i] = order[i];
	}
	if (n_moved > 1)
		qsort(room, n_moved, sizeof(*room), by_key);
	for (uint32_t i = 0; i < n; i++)
		if (cells[i] == UINT32_MAX)
			cells[i] = room[at++].cell;
	set_layer(l, layer, cells);
}

/* How many crossings fewer there were on one side if two cells changed places. */
static int64_t gain_of(const struct graph_layers *l, uint32_t left, uint32_t right,
		       bool is_up)
{
	const uint32_t *first = is_up ? l->first_up : l->first_down;
	const uint32_t *links = is_up ? l->up : l->down;
	int64_t gain = 0;

	if ((uint64_t)(first[left + 1] - first[left]) *
		    (first[right + 1] - first[right]) >
	    MAX_PAIRS)
		return 0;
	for (uint32_t i = first[left]; i < first[left + 1]; i++) {
		uint32_t a = neighbour(l, links[i], is_up);

		for (uint32_t k = first[right]; k < first[right + 1]; k++) {
			uint32_t b = neighbour(l, links[k], is_up);

			gain += (a > b) - (a < b);
		}
	}
	return gain;
}

/* Where barycentres do not help any more, changing places with the next may. */
static void swap_cells(struct graph_layers *l, size_t layer)
{
	uint32_t *order = &l->order[l->start[layer]];

	for (uint32_t i = 0; i + 1 < graph_layers_width(l, layer); i++) {
		uint32_t left = order[i], right = order[i + 1];

		if (gain_of(l, left, right, true) + gain_of(l, left, right, false) <= 0)
			continue;
		order[i] = right;
		order[i + 1] = left;
		l->cells.at[right].position = i;
		l->cells.at[left].position = i + 1;
	}
}

static int by_number(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

/* Inversions among the lower ends, taken in the order of the upper: each link crosses
 * those before it that end further right.  `tree` counts ends, as a Fenwick tree. */
static uint64_t crossings_below(const struct graph_layers *l, size_t layer,
				uint32_t *tree, uint32_t *ends)
{
	size_t width = graph_layers_width(l, layer + 1);
	uint64_t n = 0, n_before = 0;

	memset(tree, 0, (width + 1) * sizeof(*tree));
	for (size_t i = l->start[layer]; i < l->start[layer + 1]; i++) {
		uint32_t cell = l->order[i], n_ends = 0;

		for (uint32_t k = l->first_down[cell]; k < l->first_down[cell + 1]; k++)
			ends[n_ends++] =
				l->cells.at[l->links.at[l->down[k]].lower].position;
		if (n_ends > 1)
			qsort(ends, n_ends, sizeof(*ends), by_number);
		for (uint32_t k = 0; k < n_ends; k++) {
			uint64_t n_left = 0;

			for (size_t at = ends[k] + 1; at; at &= at - 1)
				n_left += tree[at];
			n += n_before - n_left;
			n_before++;
			for (size_t at = ends[k] + 1; at <= width; at += at & -at)
				tree[at]++;
		}
	}
	return n;
}

uint64_t graph_order_crossings(const struct graph_layers *l)
{
	own(freep) uint32_t *tree = xcalloc(l->cells.n + 2, sizeof(*tree));
	own(freep) uint32_t *ends = xcalloc(l->links.n + 1, sizeof(*ends));
	uint64_t n = 0;

	for (size_t i = 0; i + 1 < l->n_layers; i++)
		n += crossings_below(l, i, tree, ends);
	return n;
}

static void sweep(struct graph_layers *l, bool is_up, struct ranked *room,
		  uint32_t *cells)
{
	for (size_t i = 1; i < l->n_layers; i++)
		sort_layer(l, is_up ? i : l->n_layers - 1 - i, is_up, room, cells);
	for (unsigned n = 0; n < SWAP_PASSES; n++)
		for (size_t i = 0; i < l->n_layers; i++)
			swap_cells(l, is_up ? i : l->n_layers - 1 - i);
}

unsigned graph_order_improve(struct graph_layers *l)
{
	size_t n = l->cells.n, work = n + l->links.n + 1;
	own(freep) struct ranked *room = xcalloc(n + 1, sizeof(*room));
	own(freep) uint32_t *cells = xcalloc(n + 1, sizeof(*cells));
	own(freep) uint32_t *best = xmemdup(l->order, (n + 1) * sizeof(*best));
	uint64_t least = graph_order_crossings(l);
	unsigned most = MAX_SWEEPS, n_sweeps = 0, n_vain = 0;

	if (MAX_WORK / work < most)
		most = (unsigned)(MAX_WORK / work);
	if (most < MIN_SWEEPS)
		most = MIN_SWEEPS;
	while (n_sweeps < most && least && n_vain < PATIENCE) {
		sweep(l, n_sweeps % 2 == 0, room, cells);
		n_sweeps++;
		n_vain++;

		uint64_t now = graph_order_crossings(l);

		if (now >= least)
			continue;
		least = now;
		n_vain = 0;
		memcpy(best, l->order, n * sizeof(*best));
	}
	for (size_t i = 0; i < l->n_layers; i++)
		set_layer(l, i, &best[l->start[i]]);
	return n_sweeps;
}
