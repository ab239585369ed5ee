/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/ideal_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define LONG_PATH  256 /* instructions, of blocks that matter */
#define SHORT_PATH 40
#define HOT_SHARE  0.99 /* of all instructions executed: those blocks matter */
#define MAX_WAYS   3	/* into a block that are scheduled */
#define MIN_SHARE  8	/* ... if each is so many times rarer than the first at most */
#define MAX_HOPS   4	/* from a stub to the function that returns */

struct ideal_path {
	const struct block_graph *g;
	const struct ideal_code *code;
	const struct input *s;
	const uint32_t *function_of;
	struct schedule *schedule;
	struct map call_ending_at; /* image and offset: block + 1 */
	struct map return_of;	   /* function: the block it returns from most */
	uint32_t *next;		   /* [block]: where to most often, MODEL_NONE */
	bool *is_hot;
	VEC(uint32_t) path; /* blocks, the last one first */
};

static uint32_t n_operations(const struct ideal_path *p, uint32_t block)
{
	return p->code->first[block + 1] - p->code->first[block];
}

static uint64_t place_key(const struct ideal_path *p, const struct block_graph_block *b,
			  uint64_t off)
{
	const struct model_location *l = &p->s->locations[b->location];

	return hash_pair(l->image, l->offset + off);
}

static bool is_call(const struct block_graph_block *b)
{
	return b->end == BLOCK_END_CALL || b->end == BLOCK_END_INDIRECT_CALL;
}

static void keep_most(struct map *map, uint64_t key, const struct block_graph *g,
		      uint32_t block)
{
	uint64_t *slot = map_slot(map, key, NULL);

	if (!*slot || g->blocks.at[*slot - 1].times < g->blocks.at[block].times)
		*slot = (uint64_t)block + 1;
}

static void index_blocks(struct ideal_path *p)
{
	for (uint32_t i = 0; i < p->g->blocks.n; i++) {
		const struct block_graph_block *b = &p->g->blocks.at[i];

		if (is_call(b))
			keep_most(&p->call_ending_at, place_key(p, b, b->size_bytes),
				  p->g, i);
		if (b->end == BLOCK_END_RETURN)
			keep_most(&p->return_of, p->function_of[i], p->g, i);
	}
}

static void index_next(struct ideal_path *p)
{
	uint64_t *most = xcalloc(p->g->blocks.n + 1, sizeof(*most));

	p->next = xcalloc(p->g->blocks.n + 1, sizeof(*p->next));
	memset(p->next, 0xff, p->g->blocks.n * sizeof(*p->next));
	vec_each(w, &p->g->ways) {
		if (w->from == MODEL_NONE || w->to == MODEL_NONE ||
		    w->times <= most[w->from])
			continue;
		most[w->from] = w->times;
		p->next[w->from] = w->to;
	}
	free(most);
}

struct heat {
	uint64_t n; /* instructions executed */
	uint32_t block;
};

static int by_heat(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1)
			    : (x->block > y->block) - (x->block < y->block);
}

static void mark_hot(struct ideal_path *p)
{
	size_t n = p->g->blocks.n;
	own(freep) struct heat *heat = xcalloc(n + 1, sizeof(*heat));
	double total = 0, sum = 0;

	p->is_hot = xcalloc(n + 1, sizeof(*p->is_hot));
	for (uint32_t i = 0; i < n; i++) {
		const struct block_graph_block *b = &p->g->blocks.at[i];

		heat[i] = (struct heat){ b->times * b->n_instructions, i };
		total += (double)heat[i].n;
	}
	qsort(heat, n, sizeof(*heat), by_heat);
	for (size_t i = 0; i < n && sum < HOT_SHARE * total; i++) {
		sum += (double)heat[i].n;
		p->is_hot[heat[i].block] = true;
	}
}

struct ideal_path *ideal_path_new(const struct block_graph *g, const struct ideal_code *c,
				  const struct input *s, const uint32_t *function_of,
				  const struct machine_model *m)
{
	struct ideal_path *p = xcalloc(1, sizeof(*p));

	*p = (struct ideal_path){
		.g = g,
		.code = c,
		.s = s,
		.function_of = function_of,
		.schedule = schedule_new(m),
	};
	index_blocks(p);
	index_next(p);
	mark_hot(p);
	return p;
}

void ideal_path_free(struct ideal_path *p)
{
	if (!p)
		return;
	schedule_free(p->schedule);
	map_fini(&p->call_ending_at);
	map_fini(&p->return_of);
	free(p->next);
	free(p->is_hot);
	vec_fini(&p->path);
	free(p);
}

void ideal_path_freep(struct ideal_path **p)
{
	ideal_path_free(*p);
}

/* Where the call right before the block came back from; the call itself if that cannot be
 * told. */
static uint32_t returned_from(const struct ideal_path *p, uint32_t block)
{
	const uint64_t *call =
		map_find(&p->call_ending_at, place_key(p, &p->g->blocks.at[block], 0));
	uint32_t at;

	if (!call)
		return MODEL_NONE;
	at = p->next[*call - 1];
	for (int hops = 0; at != MODEL_NONE && hops < MAX_HOPS; hops++) {
		const uint64_t *from = map_find(&p->return_of, p->function_of[at]);

		if (from)
			return (uint32_t)*from - 1;
		at = p->next[at];
	}
	return (uint32_t)*call - 1;
}

static uint32_t from_of(const struct ideal_path *p, const struct block_graph_way *w)
{
	return w->kind == EDGE_RETURNED ? returned_from(p, w->to) : w->from;
}

/* The block that came before it most often. */
static uint32_t before(const struct ideal_path *p, uint32_t block)
{
	uint32_t first = p->g->first_in[block];

	return first < p->g->first_in[block + 1] ? from_of(p, &p->g->ways.at[first])
						 : MODEL_NONE;
}

/* The path that ends with the block, having come from another. */
static void lay_path(struct ideal_path *p, uint32_t block, uint32_t from)
{
	unsigned limit = p->is_hot[block] ? LONG_PATH : SHORT_PATH;
	unsigned n = 0;

	p->path.n = 0;
	*vec_push(&p->path) = block;
	/* Blocks without code are passed over, but not for ever. */
	for (unsigned steps = 0; from != MODEL_NONE && n < limit && steps < limit;
	     steps++) {
		*vec_push(&p->path) = from;
		n += n_operations(p, from);
		from = before(p, from);
	}
}

/* Whether the block jumps to the next, or goes on behind itself. */
static bool is_jump(const struct ideal_path *p, uint32_t block, uint32_t next)
{
	const struct block_graph_block *b = &p->g->blocks.at[block];

	if (b->end != BLOCK_END_BRANCH)
		return b->end != BLOCK_END_ON && b->end != BLOCK_END_SYSCALL;
	return place_key(p, b, b->size_bytes) != place_key(p, &p->g->blocks.at[next], 0);
}

/* Schedules one block; cycles: added to, or NULL. */
static double pass(struct ideal_path *p, uint32_t block, bool is_taken, double left,
		   double *cycles)
{
	uint32_t first = p->code->first[block], n = n_operations(p, block);

	for (uint32_t i = 0; i < n; i++) {
		double now =
			schedule_step(p->schedule, &p->code->operations.at[first + i],
				      is_taken && i + 1 == n);

		if (cycles)
			cycles[i] += now - left;
		left = now;
	}
	return left;
}

/* All times that the path comes to the block in the same way count, but for the first
 * part, when the processor has still little to do. */
static void schedule_path(struct ideal_path *p, uint32_t block, uint32_t from,
			  double share, double *cycles, double *scratch)
{
	uint32_t n = n_operations(p, block), n_before = 0;
	unsigned limit = p->is_hot[block] ? LONG_PATH : SHORT_PATH, n_times = 0;
	double left = 0;

	lay_path(p, block, from);
	memset(scratch, 0, n * sizeof(*scratch));
	schedule_restart(p->schedule);
	for (size_t i = p->path.n; i-- > 0;) {
		uint32_t at = p->path.at[i];
		bool is_taken = i && is_jump(p, at, p->path.at[i - 1]);
		bool is_it = at == block &&
			     (i == 0 || (i + 1 < p->path.n && n_before > limit / 4 &&
					 p->path.at[i + 1] == from));

		left = pass(p, at, is_taken, left, is_it ? scratch : NULL);
		n_times += is_it;
		n_before += n_operations(p, at);
	}
	for (uint32_t i = 0; i < n; i++)
		cycles[i] += scratch[i] * share / n_times;
}

void ideal_path_schedule(struct ideal_path *p, uint32_t block, double *cycles)
{
	const struct block_graph_way *ways = &p->g->ways.at[p->g->first_in[block]];
	size_t n_ways = p->g->first_in[block + 1] - p->g->first_in[block];
	size_t max = p->is_hot[block] ? MAX_WAYS : 1;
	uint32_t n = n_operations(p, block);
	own(freep) double *scratch = xcalloc(n + 1u, sizeof(*scratch));
	double total = 0;

	memset(cycles, 0, n * sizeof(*cycles));
	if (n_ways > max)
		n_ways = max;
	while (n_ways && ways[n_ways - 1].times < ways[0].times / MIN_SHARE)
		n_ways--;
	for (size_t i = 0; i < n_ways; i++)
		total += (double)ways[i].times;
	for (size_t i = 0; i < n_ways; i++)
		schedule_path(p, block, from_of(p, &ways[i]),
			      (double)ways[i].times / total, cycles, scratch);
	if (!n_ways)
		schedule_path(p, block, MODEL_NONE, 1, cycles, scratch);
}
