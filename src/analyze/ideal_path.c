/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/ideal_path.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/running_sum.h"
#include "base/map.h"
#include "base/mem.h"
#include "insn/path_cost.h"

#define MAX_HOPS 4 /* from a stub to the function that returns */

/* Blocks that functions return from, those of a function side by side. */
struct returns {
	VEC(uint32_t) blocks;
	VEC(uint64_t) sums;  /* of how often they were entered */
	VEC(uint32_t) first; /* [group]: its first block; one more than there are */
};

struct measuring {
	const struct block_graph *g;
	const struct block_code *code;
	const struct input *s;
	const uint32_t *function_of;
	struct returns returns;
	uint32_t *call_before;	 /* [block]: the one whose call ends there, MODEL_NONE */
	uint32_t *returned_from; /* [block]: the group that this call returned from */
	uint64_t *way_sums;	 /* [way]: of how often they were taken */
	double *heat;		 /* [block]: instructions executed */
	VEC(uint32_t) calls; /* blocks whose calls the path has gone into, backwards */
};

static void measuring_fini(struct measuring *m)
{
	vec_fini(&m->returns.blocks);
	vec_fini(&m->returns.sums);
	vec_fini(&m->returns.first);
	vec_fini(&m->calls);
	free(m->call_before);
	free(m->returned_from);
	free(m->way_sums);
	free(m->heat);
}

struct place {
	uint32_t image;
	uint64_t offset;
};

static struct place begin_of(const struct measuring *m, uint32_t block)
{
	const struct model_location *l =
		&m->s->locations[m->g->blocks.at[block].location];

	return (struct place){ l->image, l->offset };
}

static struct place end_of(const struct measuring *m, uint32_t block)
{
	struct place p = begin_of(m, block);

	p.offset += m->g->blocks.at[block].size_bytes;
	return p;
}

static uint64_t place_key(struct place p)
{
	return hash_pair(p.image, p.offset);
}

/* Finding. */

/* Of several calls that end at the same place, the most frequent one. */
static void find_calls_before(struct measuring *m)
{
	const struct block_graph *g = m->g;
	struct map ending_at = { 0 }; /* place: block */

	for (uint32_t i = 0; i < g->blocks.n; i++) {
		uint32_t end = g->blocks.at[i].end;
		bool is_new;
		uint64_t *slot;

		if (end != BLOCK_END_CALL && end != BLOCK_END_INDIRECT_CALL)
			continue;
		slot = map_slot(&ending_at, place_key(end_of(m, i)), &is_new);
		if (is_new || g->blocks.at[*slot].times < g->blocks.at[i].times)
			*slot = i;
	}
	for (uint32_t i = 0; i < g->blocks.n; i++) {
		const uint64_t *call = map_find(&ending_at, place_key(begin_of(m, i)));

		m->call_before[i] = call ? (uint32_t)*call : MODEL_NONE;
	}
	map_fini(&ending_at);
}

struct function_block {
	uint32_t function, block;
};

static int by_function(const void *a, const void *b)
{
	const struct function_block *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

/* group_of: by function. */
static void group_returns(struct measuring *m, struct map *group_of)
{
	struct returns *r = &m->returns;
	VEC(struct function_block) found = { 0 };
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->g->blocks.n; i++)
		if (m->g->blocks.at[i].end == BLOCK_END_RETURN &&
		    m->g->blocks.at[i].times)
			*vec_push(&found) =
				(struct function_block){ m->function_of[i], i };
	if (found.n)
		qsort(found.at, found.n, sizeof(*found.at), by_function);
	vec_each(f, &found) {
		bool is_new;
		uint64_t *slot = map_slot(group_of, f->function, &is_new);

		if (is_new) {
			*slot = r->first.n;
			*vec_push(&r->first) = (uint32_t)r->blocks.n;
		}
		*vec_push(&r->blocks) = f->block;
		*vec_push(&r->sums) = sum;
		sum += m->g->blocks.at[f->block].times;
	}
	*vec_push(&r->first) = (uint32_t)r->blocks.n;
	*vec_push(&r->sums) = sum;
	vec_fini(&found);
}

/* Where each block goes to most often. */
static uint32_t *find_usual_ways(const struct block_graph *g)
{
	own(freep) uint64_t *most = xcalloc(g->blocks.n + 1, sizeof(*most));
	uint32_t *next = xcalloc(g->blocks.n + 1, sizeof(*next));

	memset(next, 0xff, g->blocks.n * sizeof(*next));
	vec_each(w, &g->ways) {
		if (w->to == MODEL_NONE || w->from == MODEL_NONE ||
		    w->times <= most[w->from])
			continue;
		most[w->from] = w->times;
		next[w->from] = w->to;
	}
	return next;
}

/* What the call went to, or where that jumped to. */
static void find_returns(struct measuring *m)
{
	own(map_fini) struct map group_of = { 0 };
	own(freep) uint32_t *next = find_usual_ways(m->g);

	group_returns(m, &group_of);
	for (uint32_t i = 0; i < m->g->blocks.n; i++) {
		uint32_t at = m->call_before[i] != MODEL_NONE ? next[m->call_before[i]]
							      : MODEL_NONE;

		m->returned_from[i] = MODEL_NONE;
		for (int hops = 0; at != MODEL_NONE && hops < MAX_HOPS; hops++) {
			const uint64_t *group = map_find(&group_of, m->function_of[at]);

			if (group) {
				m->returned_from[i] = (uint32_t)*group;
				break;
			}
			at = next[at];
		}
	}
}

static void sum_ways(struct measuring *m)
{
	const struct block_graph *g = m->g;
	uint64_t sum = 0;

	for (size_t i = 0; i < g->ways.n; i++) {
		m->way_sums[i] = sum;
		sum += g->ways.at[i].times;
	}
	m->way_sums[g->ways.n] = sum;
}

/* Stepping back. */

/* Where the call right before the block came back from; the call itself if that cannot be
 * told. */
static uint32_t returned_from(struct measuring *m, uint32_t block,
			      struct path_cost_chance *chance)
{
	const struct returns *r = &m->returns;
	uint32_t call = m->call_before[block], group = m->returned_from[block];

	if (group == MODEL_NONE)
		return call;

	uint32_t first = r->first.at[group], end = r->first.at[group + 1];
	uint64_t at = path_cost_choose(chance, running_sum_of(r->sums.at, first, end));

	*vec_push(&m->calls) = call;
	return r->blocks.at[running_sum_find(r->sums.at, first, end, at)];
}

/* A path that has returned from a call has come by that call. */
static uint32_t called_from(struct measuring *m, const struct block_graph_way *w)
{
	bool is_call = w->kind == EDGE_CALL || w->kind == EDGE_INDIRECT_CALL;

	if (is_call && m->calls.n)
		return m->calls.at[--m->calls.n];
	return w->from;
}

static uint32_t before(void *ctx, uint32_t block, struct path_cost_chance *chance)
{
	struct measuring *m = ctx;
	uint32_t first = m->g->first_in[block], end = m->g->first_in[block + 1];
	uint64_t entered = running_sum_of(m->way_sums, first, end);
	const struct block_graph_way *w;

	if (!entered)
		return MODEL_NONE;
	w = &m->g->ways.at[running_sum_find(m->way_sums, first, end,
					    path_cost_choose(chance, entered))];
	return w->kind == EDGE_RETURNED ? returned_from(m, block, chance)
					: called_from(m, w);
}

static void begin_path(void *ctx)
{
	struct measuring *m = ctx;

	m->calls.n = 0;
}

/* Whether the block jumps to the next, or goes on behind itself. */
static bool is_jump(void *ctx, uint32_t block, uint32_t next)
{
	const struct measuring *m = ctx;
	uint32_t end = m->g->blocks.at[block].end;

	if (end != BLOCK_END_BRANCH)
		return end != BLOCK_END_ON && end != BLOCK_END_SYSCALL;

	struct place behind = end_of(m, block), there = begin_of(m, next);

	return behind.image != there.image || behind.offset != there.offset;
}

void ideal_path_measure(const struct block_graph *g, const struct block_code *c,
			const struct input *s, const uint32_t *function_of,
			const struct machine_model *model, double *cycles)
{
	own(measuring_fini) struct measuring m = {
		.g = g,
		.code = c,
		.s = s,
		.function_of = function_of,
	};

	m.heat = xcalloc(g->blocks.n + 1, sizeof(*m.heat));
	m.call_before = xcalloc(g->blocks.n + 1, sizeof(*m.call_before));
	m.returned_from = xcalloc(g->blocks.n + 1, sizeof(*m.returned_from));
	m.way_sums = xcalloc(g->ways.n + 1, sizeof(*m.way_sums));
	find_calls_before(&m);
	find_returns(&m);
	sum_ways(&m);
	for (size_t i = 0; i < g->blocks.n; i++)
		m.heat[i] =
			(double)g->blocks.at[i].times * g->blocks.at[i].n_instructions;
	path_cost_measure(&(struct path_cost){ .n_blocks = (uint32_t)g->blocks.n,
					       .operations = c->operations.at,
					       .first = c->first,
					       .n = c->n,
					       .heat = m.heat,
					       .cycles = cycles,
					       .ctx = &m,
					       .begin = begin_path,
					       .before = before,
					       .is_jump = is_jump },
			  model);
}
