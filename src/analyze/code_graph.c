/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/code_graph.h"

#include <stdlib.h>

#include "analyze/block_choice.h"
#include "analyze/block_graph.h"
#include "analyze/profile_data.h"
#include "base/mem.h"

/* What a location is in the symbolizer's eyes. */
struct spot {
	uint32_t function;
	uint64_t address;
	const char *file;
	uint32_t line;
};

struct making {
	struct code_graph *g;
	const struct profile *p;
	size_t source;
	const struct recording *r;
	struct block_graph own; /* where not all is wanted */
	const struct block_graph *graph;
	struct spot *spots; /* by location; only of those that are asked for */
	bool *is_asked;
};

static void making_fini(struct making *m)
{
	block_graph_fini(&m->own);
	free(m->spots);
	free(m->is_asked);
}

void code_graph_fini(struct code_graph *g)
{
	vec_fini(&g->blocks);
	vec_fini(&g->calls);
}

/* Names. */

static void name_locations(struct making *m, uint32_t image, const uint32_t *ids,
			   size_t n)
{
	const struct model_location *locations = recording_locations(m->r);
	struct symbolizer *s = profile_symbolizer(m->p);
	own(freep) uint64_t *offsets = xcalloc(n + 1, sizeof(*offsets));
	own(freep) bool *is_return = xcalloc(n + 1, sizeof(*is_return));
	own(freep) struct sym_result *results = xcalloc(n + 1, sizeof(*results));

	for (size_t i = 0; i < n; i++)
		offsets[i] = locations[ids[i]].offset;
	symbolizer_resolve(s, profile_sym_image(m->p, m->source, image), offsets,
			   is_return, n, results);
	for (size_t i = 0; i < n; i++) {
		const struct sym_result *x = &results[i];
		const struct sym_frame *inner = symbolizer_frame(s, x->first_frame);
		const struct sym_frame *outer =
			symbolizer_frame(s, x->first_frame + x->n_frames - 1);

		m->spots[ids[i]] = (struct spot){ outer->function, x->address,
						  inner->file, inner->line };
	}
}

static void name_all(struct making *m)
{
	const struct model_location *locations = recording_locations(m->r);
	uint32_t n = recording_n_locations(m->r), n_images = recording_n_images(m->r);
	own(freep) uint32_t *starts = xcalloc((size_t)n_images + 2, sizeof(*starts));
	own(freep) uint32_t *ids = xcalloc((size_t)n + 1, sizeof(*ids));

	for (uint32_t i = 0; i < n; i++)
		starts[locations[i].image + 1] += m->is_asked[i];
	for (uint32_t i = 0; i < n_images; i++)
		starts[i + 1] += starts[i];
	for (uint32_t i = 0; i < n; i++)
		if (m->is_asked[i])
			ids[starts[locations[i].image]++] = i;
	/* Each start is the next one's by now. */
	for (uint32_t i = 0, from = 0; i < n_images; from = starts[i++])
		if (starts[i] > from)
			name_locations(m, i, ids + from, starts[i] - from);
}

/* Blocks. */

static int by_place(const void *a, const void *b)
{
	const struct code_graph_block *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

static int by_times(const void *a, const void *b)
{
	const struct code_graph_block *x = a, *y = b;

	return x->times != y->times ? (x->times < y->times ? 1 : -1) : by_place(a, b);
}

static void add_block(struct making *m, size_t i)
{
	const struct block_graph_block *b = &m->graph->blocks.at[i];
	const struct model_location *l = &recording_locations(m->r)[b->location];
	const struct spot *spot = &m->spots[b->location];
	const double *cycles = m->p->sources[m->source].block_cycles;

	*vec_push(&m->g->blocks) = (struct code_graph_block){
		.image = l->image,
		.function = spot->function,
		.offset = l->offset,
		.address = spot->address,
		.file = spot->file,
		.line = spot->line,
		.size_bytes = b->size_bytes,
		.n_instructions = b->n_instructions,
		.end = b->end,
		.times = b->times,
		.cycles = cycles ? cycles[i] : -1,
	};
}

static void take_blocks(struct making *m)
{
	struct code_graph *g = m->g;

	for (size_t i = 0; i < m->graph->blocks.n; i++)
		if (m->graph->blocks.at[i].times)
			add_block(m, i);
	if (g->blocks.n)
		qsort(g->blocks.at, g->blocks.n, sizeof(*g->blocks.at), by_times);
}

/* Calls. */

static int by_pair(const void *a, const void *b)
{
	const struct code_graph_call *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	if (x->is_jump != y->is_jump)
		return x->is_jump ? 1 : -1;
	return (int)x->is_indirect - (int)y->is_indirect;
}

static int by_calls(const void *a, const void *b)
{
	const struct code_graph_call *x = a, *y = b;

	return x->times != y->times ? (x->times < y->times ? 1 : -1) : by_pair(a, b);
}

static bool is_way(uint32_t kind)
{
	return kind == EDGE_TAKEN || kind == EDGE_CALL || kind == EDGE_INDIRECT_JUMP ||
	       kind == EDGE_INDIRECT_CALL || kind == EDGE_ON;
}

/* A way into a function from another one, or a call; others stay within a function. */
static void add_call(struct making *m, const struct block_graph_way *w)
{
	const struct spot *from = &m->spots[m->graph->blocks.at[w->from].location];
	const struct spot *to = &m->spots[m->graph->blocks.at[w->to].location];
	bool is_jump = w->kind != EDGE_CALL && w->kind != EDGE_INDIRECT_CALL;
	const struct sym_function *f =
		symbolizer_function(profile_symbolizer(m->p), to->function);

	if (is_jump && (from->function == to->function || to->address != f->start))
		return;
	*vec_push(&m->g->calls) = (struct code_graph_call){
		.caller = from->function,
		.callee = to->function,
		.is_jump = is_jump,
		.is_indirect =
			w->kind == EDGE_INDIRECT_CALL || w->kind == EDGE_INDIRECT_JUMP,
		.times = w->times,
	};
}

static void sum_calls(struct making *m)
{
	struct code_graph *g = m->g;
	size_t n = 0;

	vec_each(w, &m->graph->ways)
		if (w->from != MODEL_NONE && w->to != MODEL_NONE && is_way(w->kind))
			add_call(m, w);
	if (!g->calls.n)
		return;
	qsort(g->calls.at, g->calls.n, sizeof(*g->calls.at), by_pair);
	for (size_t i = 0; i < g->calls.n; i++) {
		const struct code_graph_call *c = &g->calls.at[i];

		if (n && by_pair(&g->calls.at[n - 1], c) == 0)
			g->calls.at[n - 1].times += c->times;
		else
			g->calls.at[n++] = *c;
	}
	g->calls.n = n;
	qsort(g->calls.at, n, sizeof(*g->calls.at), by_calls);
}

static int take_graph(struct making *m, struct err *e)
{
	own(block_choice_fini) struct block_choice chosen = { 0 };
	int rc = block_choice_make(&chosen, m->p, m->source, e);

	if (rc < 0)
		return rc;
	if (chosen.is_all)
		return input_block_graph(&m->p->sources[m->source], &m->graph, e);
	m->graph = &m->own;
	return block_graph_make(&m->own, m->r, &chosen, e);
}

int code_graph_make(struct code_graph *ret, const struct profile *p, size_t source,
		    struct err *e)
{
	own(making_fini) struct making m = {
		.g = ret,
		.p = p,
		.source = source,
		.r = profile_source(p, source),
	};
	uint32_t n = recording_n_locations(m.r);
	int rc;

	*ret = (struct code_graph){ 0 };
	rc = take_graph(&m, e);
	if (rc < 0)
		return rc;
	m.spots = xcalloc((size_t)n + 1, sizeof(*m.spots));
	m.is_asked = xcalloc((size_t)n + 1, sizeof(*m.is_asked));
	vec_each(b, &m.graph->blocks)
		m.is_asked[b->location] = true;
	name_all(&m);
	take_blocks(&m);
	sum_calls(&m);
	return 0;
}
