/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_ends.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* Labels at one border; more would make nodes wide for nothing else. */
#define MAX_LABELS 6
#define LABEL_GAP  4.0	/* between a way and its label */
#define SLOT	   14.0 /* of a way without label */
#define MARGIN	   6.0	/* from a corner */
#define CUT_LABEL  28	/* bytes of another node's title */

static uint32_t node_at(const struct graph_way *w, size_t side)
{
	return side == GRAPH_ENDS_FROM ? w->from : w->to;
}

static void set_label(struct graph_end *end, const char *label)
{
	end->label = label;
	end->label_w = graph_size_label(label) + LABEL_GAP;
}

void graph_ends_init(struct graph_ends *e, const struct graph *g)
{
	*e = (struct graph_ends){ .g = g };
	for (size_t s = 0; s < GRAPH_ENDS_N_SIDES; s++) {
		e->at[s] = xcalloc(g->ways.n + 1, sizeof(*e->at[s]));
		e->n_ways[s] = xcalloc(g->nodes.n + 1, sizeof(*e->n_ways[s]));
		vec_each(w, &g->ways)
			e->n_ways[s][node_at(w, s)]++;
	}
	for (size_t i = 0; i < g->ways.n; i++) {
		const struct graph_way *w = &g->ways.at[i];
		uint32_t n_out = e->n_ways[GRAPH_ENDS_FROM][w->from];
		uint32_t n_in = e->n_ways[GRAPH_ENDS_TO][w->to];
		bool is_from = n_out <= 2 || n_out <= n_in;
		size_t side = is_from ? GRAPH_ENDS_FROM : GRAPH_ENDS_TO;

		if (!w->label)
			continue;
		if (n_out > MAX_LABELS && n_in > MAX_LABELS)
			e->n_unlabelled++;
		else
			set_label(&e->at[side][i], w->label);
	}
}

void graph_ends_fini(struct graph_ends *e)
{
	for (size_t s = 0; s < GRAPH_ENDS_N_SIDES; s++) {
		free(e->at[s]);
		free(e->n_ways[s]);
	}
	arena_fini(&e->texts);
}

/* Titles may be long; a start of one is enough to search for. */
static const char *name_other(struct graph_ends *e, const struct graph_way *w,
			      size_t side)
{
	static const char *const words[] = {
		[GRAPH_ENDS_FROM] = "to",
		[GRAPH_ENDS_TO] = "from",
	};
	const char *title = e->g->nodes.at[node_at(w, !side)].title;
	size_t n = strlen(title);
	own(buf_fini) struct buf b = { 0 };

	if (n > CUT_LABEL)
		for (n = CUT_LABEL; n && ((unsigned char)title[n] & 0xc0) == 0x80;)
			n--;
	buf_printf(&b, "%s %.*s", words[side], (int)n, title);
	if (side == GRAPH_ENDS_FROM && w->label)
		buf_printf(&b, ": %s", w->label);
	return arena_strdup(&e->texts, buf_str(&b));
}

void graph_ends_name_cut(struct graph_ends *e, const struct graph_run *runs)
{
	for (size_t i = 0; i < e->g->ways.n; i++) {
		const struct graph_way *w = &e->g->ways.at[i];

		for (size_t s = 0; runs[i].is_cut && s < GRAPH_ENDS_N_SIDES; s++)
			if (e->n_ways[s][node_at(w, s)] <= MAX_LABELS)
				set_label(&e->at[s][i], name_other(e, w, s));
	}
}

static double slot_of(const struct graph_end *end)
{
	return fmax(SLOT, end->label_w + SLOT / 2);
}

/* Each node's sum of slots at one border; those without a label give way to a few. */
static void sum_slots(const struct graph_ends *e, size_t side, double *ret)
{
	for (size_t i = 0; i < e->g->nodes.n; i++)
		ret[i] = 2 * MARGIN;
	for (size_t i = 0; i < e->g->ways.n; i++)
		ret[node_at(&e->g->ways.at[i], side)] += slot_of(&e->at[side][i]);
}

void graph_ends_min_widths(const struct graph_ends *e, double *ret)
{
	own(freep) double *slots = xcalloc(e->g->nodes.n + 1, sizeof(*slots));
	own(freep) bool *is_labelled = xcalloc(e->g->nodes.n + 1, sizeof(*is_labelled));

	for (size_t i = 0; i < e->g->nodes.n; i++)
		ret[i] = 0;
	for (size_t s = 0; s < GRAPH_ENDS_N_SIDES; s++) {
		sum_slots(e, s, slots);
		memset(is_labelled, 0, e->g->nodes.n);
		for (size_t i = 0; i < e->g->ways.n; i++) {
			uint32_t node = node_at(&e->g->ways.at[i], s);

			if (e->at[s][i].label_w > 0)
				is_labelled[node] = true;
			if (e->n_ways[s][node] == 1) /* in the middle */
				slots[node] = 2 * (e->at[s][i].label_w + MARGIN);
		}
		for (size_t i = 0; i < e->g->nodes.n; i++)
			if (is_labelled[i] || e->n_ways[s][i] <= MAX_LABELS)
				ret[i] = fmax(ret[i], slots[i]);
	}
}

struct port {
	uint32_t node, way;
	uint32_t cell; /* what the way goes to or comes from */
	double toward; /* where that is */
};

static int by_place(const void *pa, const void *pb)
{
	const struct port *a = pa, *b = pb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->toward != b->toward)
		return a->toward < b->toward ? -1 : 1;
	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	return (a->way > b->way) - (a->way < b->way);
}

static uint32_t other_cell(const struct graph_way *w, const struct graph_run *run,
			   size_t side)
{
	if (run->n == 0)
		return node_at(w, !side);
	return side == GRAPH_ENDS_FROM ? run->first : run->first + run->n - 1;
}

/* Ways of one trunk begin or end as one, unless each has its label there. */
static bool is_shared(const struct graph_end *ends, const struct port *a,
		      const struct port *b)
{
	return a->cell == b->cell && a->toward < INFINITY && ends[a->way].label_w == 0 &&
	       ends[b->way].label_w == 0;
}

/* The ways of one border, from left to right. */
static void spread_border(struct graph_ends *e, size_t side, const struct port *ports,
			  size_t n, const struct graph_box *box)
{
	struct graph_end *ends = e->at[side];
	double sum = 0, room = box->w - 2 * MARGIN, at, by;

	for (size_t i = 0; i < n; i++)
		if (!i || !is_shared(ends, &ports[i - 1], &ports[i]))
			sum += slot_of(&ends[ports[i].way]);
	by = sum > room ? room / sum : 1;
	at = box->x + box->w / 2 - sum * by / 2;
	for (size_t i = 0; i < n; i++) {
		struct graph_end *end = &ends[ports[i].way];
		double slot = slot_of(end) * by;

		if (i && is_shared(ends, &ports[i - 1], &ports[i])) {
			end->x = ends[ports[i - 1].way].x;
			continue;
		}
		end->x = at + (end->label_w > 0 ? SLOT / 4 : slot / 2);
		at += slot;
	}
	if (n == 1)
		ends[ports->way].x =
			fmin(box->x + box->w / 2,
			     box->x + box->w - MARGIN - ends[ports->way].label_w);
}

void graph_ends_spread(struct graph_ends *e, const struct graph_layers *l,
		       const struct graph_box *boxes)
{
	size_t n = e->g->ways.n;
	own(freep) struct port *ports = xcalloc(n + 1, sizeof(*ports));

	for (size_t s = 0; s < GRAPH_ENDS_N_SIDES; s++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct graph_way *w = &e->g->ways.at[i];
			uint32_t cell = other_cell(w, &l->runs[i], s);

			/* What was cut hangs at the right, out of the others' way. */
			ports[i] = (struct port){
				.node = node_at(w, s),
				.way = i,
				.cell = cell,
				.toward = l->runs[i].is_cut ? INFINITY
							    : l->cells.at[cell].x,
			};
		}
		if (n > 1)
			qsort(ports, n, sizeof(*ports), by_place);
		for (size_t i = 0, end; i < n; i = end) {
			for (end = i; end < n && ports[end].node == ports[i].node;)
				end++;
			spread_border(e, s, &ports[i], end - i, &boxes[ports[i].node]);
		}
	}
}
