/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/ideal_path.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "insn/schedule.h"

#define MAX_STEPS 2048 /* blocks of a path, which may be without code */
#define MAX_HOPS  4    /* from a stub to the function that returns */

/* How carefully blocks are looked at: by what those that are executed more make up of all
 * instructions executed. */
static const struct care {
	double up_to;	   /* share */
	unsigned n_visits; /* that a block is to have at least */
	unsigned path;	   /* instructions */
} cares[] = {
	{ 0.95, 12, 320 },
	{ 0.999, 4, 320 },
	{ HUGE_VAL, 1, 48 },
};

/* What functions return from: their blocks that end so. */
struct returns {
	VEC(uint32_t) blocks; /* by function */
	struct map first_of;  /* function: index of its first block + 1 */
};

struct measuring {
	const struct block_graph *g;
	const struct block_code *code;
	const struct input *s;
	const uint32_t *function_of;
	struct schedule *schedule;
	struct map call_ending_at; /* image and offset: block + 1 */
	struct returns returns;
	uint32_t *next;	     /* [block]: where to most often, MODEL_NONE */
	uint64_t *entered;   /* [block]: sum of its ways in */
	uint32_t *visits;    /* [block]: scheduled so often */
	VEC(uint32_t) path;  /* blocks, the last one first */
	VEC(uint32_t) calls; /* blocks whose calls the path has gone into, backwards */
	double *cycles;	     /* [operation]: sum of all visits */
	uint64_t chance;
};

static void measuring_fini(struct measuring *m)
{
	schedule_free(m->schedule);
	map_fini(&m->call_ending_at);
	map_fini(&m->returns.first_of);
	vec_fini(&m->returns.blocks);
	vec_fini(&m->path);
	vec_fini(&m->calls);
	free(m->next);
	free(m->entered);
	free(m->visits);
}

static uint32_t n_operations(const struct measuring *m, uint32_t block)
{
	return m->code->first[block + 1] - m->code->first[block];
}

static uint64_t place_key(const struct measuring *m, uint32_t block, bool is_end)
{
	const struct block_graph_block *b = &m->g->blocks.at[block];
	const struct model_location *l = &m->s->locations[b->location];

	return hash_pair(l->image, l->offset + (is_end ? b->size_bytes : 0));
}

/* Below n. */
static uint64_t choose(struct measuring *m, uint64_t n)
{
	m->chance = m->chance * 6364136223846793005ull + 1442695040888963407ull;
	return (uint64_t)(((unsigned __int128)hash_u64(m->chance) * n) >> 64);
}

/* Finding. */

static void index_calls(struct measuring *m)
{
	const struct block_graph *g = m->g;

	for (uint32_t i = 0; i < g->blocks.n; i++) {
		uint32_t end = g->blocks.at[i].end;
		uint64_t *slot;

		if (end != BLOCK_END_CALL && end != BLOCK_END_INDIRECT_CALL)
			continue;
		slot = map_slot(&m->call_ending_at, place_key(m, i, true), NULL);
		if (!*slot || g->blocks.at[*slot - 1].times < g->blocks.at[i].times)
			*slot = (uint64_t)i + 1;
	}
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

static void index_returns(struct measuring *m)
{
	VEC(struct function_block) found = { 0 };

	for (uint32_t i = 0; i < m->g->blocks.n; i++)
		if (m->g->blocks.at[i].end == BLOCK_END_RETURN)
			*vec_push(&found) =
				(struct function_block){ m->function_of[i], i };
	if (found.n)
		qsort(found.at, found.n, sizeof(*found.at), by_function);
	vec_each(f, &found) {
		bool is_new;
		uint64_t *slot = map_slot(&m->returns.first_of, f->function, &is_new);

		if (is_new)
			*slot = m->returns.blocks.n + 1;
		*vec_push(&m->returns.blocks) = f->block;
	}
	vec_fini(&found);
}

static void index_ways(struct measuring *m)
{
	size_t n = m->g->blocks.n;
	own(freep) uint64_t *most = xcalloc(n + 1, sizeof(*most));

	m->next = xcalloc(n + 1, sizeof(*m->next));
	m->entered = xcalloc(n + 1, sizeof(*m->entered));
	memset(m->next, 0xff, n * sizeof(*m->next));
	vec_each(w, &m->g->ways) {
		if (w->to == MODEL_NONE)
			continue;
		m->entered[w->to] += w->times;
		if (w->from == MODEL_NONE || w->times <= most[w->from])
			continue;
		most[w->from] = w->times;
		m->next[w->from] = w->to;
	}
}

/* Stepping back. */

/* One of the blocks that the function returns from, MODEL_NONE: it never does. */
static uint32_t return_of(struct measuring *m, uint32_t function)
{
	const uint64_t *first = map_find(&m->returns.first_of, function);
	uint64_t total = 0, at;

	if (!first)
		return MODEL_NONE;
	for (size_t i = *first - 1; i < m->returns.blocks.n &&
				    m->function_of[m->returns.blocks.at[i]] == function;
	     i++)
		total += m->g->blocks.at[m->returns.blocks.at[i]].times;
	at = choose(m, total);
	for (size_t i = *first - 1;; i++) {
		uint32_t block = m->returns.blocks.at[i];

		if (at < m->g->blocks.at[block].times)
			return block;
		at -= m->g->blocks.at[block].times;
	}
}

/* Where the call right before the block came back from; the call itself if that cannot be
 * told. */
static uint32_t returned_from(struct measuring *m, uint32_t block)
{
	const uint64_t *call = map_find(&m->call_ending_at, place_key(m, block, false));
	uint32_t at;

	if (!call)
		return MODEL_NONE;
	at = m->next[*call - 1];
	for (int hops = 0; at != MODEL_NONE && hops < MAX_HOPS; hops++) {
		uint32_t from = return_of(m, m->function_of[at]);

		if (from != MODEL_NONE) {
			*vec_push(&m->calls) = (uint32_t)*call - 1;
			return from;
		}
		at = m->next[at];
	}
	return (uint32_t)*call - 1;
}

/* A path that has returned from a call has come by that call. */
static uint32_t called_from(struct measuring *m, const struct block_graph_way *w)
{
	bool is_call = w->kind == EDGE_CALL || w->kind == EDGE_INDIRECT_CALL;

	if (is_call && m->calls.n)
		return m->calls.at[--m->calls.n];
	return w->from;
}

static uint32_t before(struct measuring *m, uint32_t block)
{
	const struct block_graph_way *w = &m->g->ways.at[m->g->first_in[block]];
	uint64_t at;

	if (!m->entered[block])
		return MODEL_NONE;
	for (at = choose(m, m->entered[block]); at >= w->times; w++)
		at -= w->times;
	return w->kind == EDGE_RETURNED ? returned_from(m, block) : called_from(m, w);
}

static void lay_path(struct measuring *m, uint32_t block, unsigned limit)
{
	unsigned n = 0;

	m->path.n = m->calls.n = 0;
	while (block != MODEL_NONE && n < limit && m->path.n < MAX_STEPS) {
		*vec_push(&m->path) = block;
		n += n_operations(m, block);
		block = before(m, block);
	}
}

/* Going forward. */

/* Whether the block jumps to the next, or goes on behind itself. */
static bool is_jump(const struct measuring *m, uint32_t block, uint32_t next)
{
	uint32_t end = m->g->blocks.at[block].end;

	if (end != BLOCK_END_BRANCH)
		return end != BLOCK_END_ON && end != BLOCK_END_SYSCALL;
	return place_key(m, block, true) != place_key(m, next, false);
}

/* cycles: added to, or NULL.  When the last instruction is done. */
static double pass(struct measuring *m, uint32_t block, bool is_taken, double left,
		   double *cycles)
{
	uint32_t first = m->code->first[block], n = n_operations(m, block);

	for (uint32_t i = 0; i < n; i++) {
		double now =
			schedule_step(m->schedule, &m->code->operations.at[first + i],
				      is_taken && i + 1 == n);

		if (cycles)
			cycles[first + i] += now - left;
		left = now;
	}
	return left;
}

/* The first part does not count: the processor has still little to do. */
static void schedule_path(struct measuring *m, unsigned limit)
{
	uint32_t n_before = 0;
	double left = 0;

	schedule_restart(m->schedule);
	for (size_t i = m->path.n; i-- > 0;) {
		uint32_t block = m->path.at[i];
		bool is_taken = i && is_jump(m, block, m->path.at[i - 1]);
		bool counts = i == 0 || n_before > limit / 4;

		left = pass(m, block, is_taken, left, counts ? m->cycles : NULL);
		m->visits[block] += counts;
		n_before += n_operations(m, block);
	}
}

struct heat {
	double n; /* instructions executed */
	uint32_t block;
};

static int by_heat(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1)
			    : (x->block > y->block) - (x->block < y->block);
}

/* Hot blocks first: their paths visit others, too. */
static void visit_all(struct measuring *m)
{
	size_t n = m->g->blocks.n;
	own(freep) struct heat *heat = xcalloc(n + 1, sizeof(*heat));
	const struct care *care = cares;
	double total = 0, sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct block_graph_block *b = &m->g->blocks.at[i];

		heat[i] = (struct heat){ (double)b->times * b->n_instructions, i };
		total += heat[i].n;
	}
	qsort(heat, n, sizeof(*heat), by_heat);
	for (size_t i = 0; i < n; sum += heat[i++].n) {
		uint32_t block = heat[i].block;

		while (sum >= care->up_to * total)
			care++;
		m->chance = block;
		while (n_operations(m, block) && m->visits[block] < care->n_visits) {
			lay_path(m, block, care->path);
			schedule_path(m, care->path);
		}
	}
}

static void take_means(struct measuring *m)
{
	for (uint32_t i = 0; i < m->g->blocks.n; i++)
		for (uint32_t k = m->code->first[i]; k < m->code->first[i + 1]; k++)
			m->cycles[k] /= m->visits[i];
}

void ideal_path_measure(const struct block_graph *g, const struct block_code *c,
			const struct input *s, const uint32_t *function_of,
			const struct machine_model *model, double *cycles)
{
	own(measuring_fini) struct measuring m = { .g = g,
						   .code = c,
						   .s = s,
						   .function_of = function_of,
						   .schedule = schedule_new(model),
						   .cycles = cycles };

	m.visits = xcalloc(g->blocks.n + 1, sizeof(*m.visits));
	index_calls(&m);
	index_returns(&m);
	index_ways(&m);
	visit_all(&m);
	take_means(&m);
}
