/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/block_graph.h"

#include <stdlib.h>

#include "analyze/block_choice.h"
#include "base/map.h"
#include "base/mem.h"

/* What a block of the recording has become. */
struct taken {
	uint32_t block;
	bool has_begin, has_end; /* chosen */
};

struct making {
	struct block_graph *g;
	const struct recording *r;
	const struct block_choice *chosen; /* NULL: all are */
	bool is_by_program;
	VEC(struct taken) taken; /* by id in the recording */
	struct map by_place;	 /* location, size and program: block */
	struct map
		by_location; /* and program: the most frequent block that begins there */
};

static void making_fini(struct making *m)
{
	vec_fini(&m->taken);
	map_fini(&m->by_place);
	map_fini(&m->by_location);
}

void block_graph_fini(struct block_graph *g)
{
	vec_fini(&g->blocks);
	vec_fini(&g->ways);
	free(g->first_in);
}

static uint32_t program_of(const struct making *m, uint32_t process)
{
	return m->is_by_program ? recording_process(m->r, process)->exe : 0;
}

static uint64_t location_key(uint32_t program, uint32_t location)
{
	return (uint64_t)program << 32 | location;
}

static int take_block(void *ctx, uint32_t id, const struct model_basic_block *b,
		      struct err *e unused)
{
	struct making *m = ctx;
	uint32_t program = program_of(m, b->process);
	struct taken *taken = vec_push(&m->taken);
	bool is_new;
	uint64_t *slot = map_slot(
		&m->by_place,
		hash_pair(location_key(program, b->location), b->size_bytes), &is_new);

	(void)id;
	if (is_new) {
		*slot = m->g->blocks.n;
		*vec_push(&m->g->blocks) = (struct block_graph_block){
			.location = b->location,
			.size_bytes = b->size_bytes,
			.n_instructions = b->n_instructions,
			.end = b->end,
			.program = program,
		};
	}
	taken->block = (uint32_t)*slot;
	taken->has_begin = !m->chosen || block_choice_has_begin(m->chosen, b);
	taken->has_end = !m->chosen || block_choice_has_end(m->chosen, b);
	if (taken->has_begin)
		m->g->blocks.at[*slot].times += b->times;
	return 0;
}

static void index_locations(struct making *m)
{
	const struct block_graph *g = m->g;

	for (size_t i = 0; i < g->blocks.n; i++) {
		bool is_new;
		uint64_t *slot = map_slot(
			&m->by_location,
			location_key(g->blocks.at[i].program, g->blocks.at[i].location),
			&is_new);

		if (is_new || g->blocks.at[*slot].times < g->blocks.at[i].times)
			*slot = i;
	}
}

static uint32_t block_at(const struct making *m, uint32_t program, uint32_t location)
{
	const uint64_t *slot =
		location != MODEL_NONE
			? map_find(&m->by_location, location_key(program, location))
			: NULL;

	return slot ? (uint32_t)*slot : MODEL_NONE;
}

/* Of a way in, the block that is named is where it leads. */
static int take_edge(void *ctx, const struct model_edge *edge, struct err *e unused)
{
	struct making *m = ctx;
	const struct taken *taken = &m->taken.at[edge->block];
	uint32_t block = taken->block;
	bool is_in = edge->kind == EDGE_RETURNED || edge->kind == EDGE_ENTERED;

	if (is_in ? !taken->has_begin : !taken->has_end)
		return 0;
	*vec_push(&m->g->ways) = (struct block_graph_way){
		.from = is_in ? MODEL_NONE : block,
		.to = is_in ? block
			    : block_at(m, m->g->blocks.at[block].program, edge->location),
		.kind = edge->kind,
		.times = edge->times,
	};
	return 0;
}

static int by_ends(const void *a, const void *b)
{
	const struct block_graph_way *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static int by_target(const void *a, const void *b)
{
	const struct block_graph_way *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->times != y->times ? (x->times < y->times ? 1 : -1) : by_ends(a, b);
}

static void sum_ways(struct block_graph *g)
{
	size_t n = 0;

	if (!g->ways.n)
		return;
	qsort(g->ways.at, g->ways.n, sizeof(*g->ways.at), by_ends);
	for (size_t i = 0; i < g->ways.n; i++) {
		if (n && by_ends(&g->ways.at[n - 1], &g->ways.at[i]) == 0)
			g->ways.at[n - 1].times += g->ways.at[i].times;
		else
			g->ways.at[n++] = g->ways.at[i];
	}
	g->ways.n = n;
	qsort(g->ways.at, n, sizeof(*g->ways.at), by_target);
}

static void index_ways(struct block_graph *g)
{
	size_t at = 0;

	g->first_in = xcalloc(g->blocks.n + 1, sizeof(*g->first_in));
	for (size_t i = 0; i <= g->blocks.n; i++) {
		while (at < g->ways.n && g->ways.at[at].to < i)
			at++;
		g->first_in[i] = (uint32_t)at;
	}
}

static int make(struct block_graph *ret, const struct recording *r,
		const struct block_choice *chosen, bool is_by_program, struct err *e)
{
	own(making_fini) struct making m = {
		.g = ret, .r = r, .chosen = chosen, .is_by_program = is_by_program
	};
	int rc;

	*ret = (struct block_graph){ 0 };
	rc = recording_each_basic_block(r, take_block, &m, e);
	if (rc < 0)
		return rc;
	index_locations(&m);
	rc = recording_each_edge(r, take_edge, &m, e);
	if (rc < 0)
		return rc;
	sum_ways(ret);
	index_ways(ret);
	return 0;
}

int block_graph_make(struct block_graph *ret, const struct recording *r,
		     const struct block_choice *chosen, struct err *e)
{
	return make(ret, r, chosen, false, e);
}

int block_graph_make_by_program(struct block_graph *ret, const struct recording *r,
				struct err *e)
{
	return make(ret, r, NULL, true, e);
}
