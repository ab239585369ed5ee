/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/block_flow.h"

#include <stdlib.h>

#include "base/vec.h"

/* A way from a site; the block that it leads to, or for a branch whether it is taken. */
struct site_way {
	uint64_t end; /* offset in the image, behind the site's instruction */
	uint32_t image, to;
	uint64_t times;
};

struct site_ways {
	VEC(struct site_way) ways;
};

struct summing {
	struct block_flow *to;
	const struct block_graph *g;
	const struct model_location *locations;
	struct site_ways branches, indirect_jumps, indirect_calls;
};

static void summing_fini(struct summing *s)
{
	vec_fini(&s->branches.ways);
	vec_fini(&s->indirect_jumps.ways);
	vec_fini(&s->indirect_calls.ways);
}

static void add_site_way(const struct summing *s, struct site_ways *to,
			 const struct block_graph_way *w, uint32_t target)
{
	const struct block_graph_block *b = &s->g->blocks.at[w->from];
	const struct model_location *l = &s->locations[b->location];

	*vec_push(&to->ways) = (struct site_way){ .end = l->offset + b->size_bytes,
						  .image = l->image,
						  .to = target,
						  .times = w->times };
}

/* A branch to itself goes backward. */
static void add_taken(struct summing *s, const struct block_graph_way *w)
{
	const struct block_graph_block *from = &s->g->blocks.at[w->from];
	const struct model_location *a = &s->locations[from->location], *b;

	s->to->taken += w->times;
	if (w->to == MODEL_NONE)
		return;
	b = &s->locations[s->g->blocks.at[w->to].location];
	if (a->image != b->image)
		return;
	if (b->offset < a->offset + from->size_bytes)
		s->to->taken_backward += w->times;
	else
		s->to->taken_forward += w->times;
}

static void add_branch(struct summing *s, const struct block_graph_way *w)
{
	bool is_taken = w->kind == EDGE_TAKEN;

	if (!is_taken && w->kind != EDGE_ON)
		return;
	add_site_way(s, &s->branches, w, is_taken);
	if (is_taken)
		add_taken(s, w);
}

static void add_way(struct summing *s, const struct block_graph_way *w)
{
	struct block_flow *f = s->to;

	if (w->from == MODEL_NONE)
		return;
	if (s->g->blocks.at[w->from].end == BLOCK_END_BRANCH) {
		add_branch(s, w);
		return;
	}
	switch (w->kind) {
	case EDGE_TAKEN:
		f->jumps += w->times;
		break;
	case EDGE_CALL:
		f->calls += w->times;
		break;
	case EDGE_INDIRECT_JUMP:
		add_site_way(s, &s->indirect_jumps, w, w->to);
		break;
	case EDGE_INDIRECT_CALL:
		add_site_way(s, &s->indirect_calls, w, w->to);
		break;
	case EDGE_RETURN:
		f->returns += w->times;
		break;
	case EDGE_SYSCALL:
		f->system_calls += w->times;
		break;
	}
}

static int by_site(const void *a, const void *b)
{
	const struct site_way *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int by_target(const void *a, const void *b)
{
	const struct site_way *x = a, *y = b;
	int order = by_site(a, b);

	return order ? order : (x->to > y->to) - (x->to < y->to);
}

static void sum_sites(struct site_ways *from, struct block_flow_sites *to)
{
	const struct site_way *w = from->ways.at;
	size_t n = from->ways.n;

	if (!n)
		return;
	qsort(from->ways.at, n, sizeof(*from->ways.at), by_target);
	for (size_t i = 0, end; i < n; i = end) {
		uint64_t most = 0, times = 0;

		for (end = i; end < n && by_site(&w[i], &w[end]) == 0; end++) {
			bool is_same = end > i && w[end - 1].to == w[end].to;

			times = is_same ? times + w[end].times : w[end].times;
			to->n_targets += !is_same;
			to->times += w[end].times;
			most = times > most ? times : most;
		}
		to->n_sites++;
		to->most += most;
	}
}

void block_flow_sum(struct block_flow *ret, const struct block_graph *g,
		    const struct recording *r)
{
	own(summing_fini) struct summing s = { .to = ret,
					       .g = g,
					       .locations = recording_locations(r) };

	*ret = (struct block_flow){ .n_blocks = g->blocks.n };
	vec_each(b, &g->blocks)
		ret->entered += b->times;
	vec_each(w, &g->ways)
		add_way(&s, w);
	sum_sites(&s.branches, &ret->branches);
	sum_sites(&s.indirect_jumps, &ret->indirect_jumps);
	sum_sites(&s.indirect_calls, &ret->indirect_calls);
}

uint64_t block_flow_taken(const struct block_flow *f)
{
	return f->taken + f->jumps + f->calls + f->returns + f->indirect_jumps.times +
	       f->indirect_calls.times;
}
