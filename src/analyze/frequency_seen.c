/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frequency_seen.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/function_code.h"
#include "analyze/function_ways.h"
#include "base/mem.h"

/* What was seen, and blocks whose ways are to be looked at. */
struct seen {
	const struct procedure *p;
	bool *block, *way;
	uint32_t *todo, n;
};

static void seen_fini(struct seen *s)
{
	free(s->block);
	free(s->way);
	free(s->todo);
}

static void see_block(struct seen *s, uint32_t block)
{
	if (block == PROCEDURE_OUTSIDE || s->block[block])
		return;
	s->block[block] = true;
	s->todo[s->n++] = block;
}

static void see_way(struct seen *s, uint32_t way)
{
	s->way[way] = true;
	see_block(s, s->p->ways[way].from);
	see_block(s, s->p->ways[way].to);
}

/* Who was there came by the only way and left by the only one. */
static void follow(struct seen *s, const struct procedure_block *b)
{
	if (b->n_in == 1 && !b->has_unknown_ways_in)
		see_way(s, s->p->ways_in[b->first_in]);
	if (b->n_out == 1 && !b->has_unknown_ways_out)
		see_way(s, b->first_out);
}

static void look(struct seen *s, const struct function_code *c)
{
	for (uint32_t i = 0; i < s->p->n_blocks; i++)
		if (c->blocks[i].samples)
			see_block(s, i);
	for (uint32_t i = 0; i < s->p->n_ways; i++)
		if (c->ways[i].told)
			see_way(s, i);
	while (s->n)
		follow(s, &s->p->blocks[s->todo[--s->n]]);
}

static void forget_unseen(const struct seen *s, struct function_code *c)
{
	for (uint32_t i = 0; i < s->p->n_blocks; i++)
		if (!s->block[i])
			c->blocks[i].times_low = 0;
	for (uint32_t i = 0; i < s->p->n_ways; i++)
		if (!s->way[i])
			c->ways[i].times_low = 0;
}

/* Of all that leaves a block, or comes in, what the other ways cannot have taken. */
static double left_to(const struct function_code *c, uint32_t way, uint32_t block,
		      bool is_out)
{
	const struct procedure *p = c->procedure;
	const struct procedure_block *b;
	double left;

	if (block == PROCEDURE_OUTSIDE)
		return 0;
	b = &p->blocks[block];
	if (is_out ? b->has_unknown_ways_out : b->has_unknown_ways_in)
		return 0;
	left = c->blocks[block].times_low;
	for (uint32_t i = 0; i < (is_out ? b->n_out : b->n_in); i++) {
		uint32_t other = is_out ? b->first_out + i : p->ways_in[b->first_in + i];

		left -= other == way ? 0 : c->ways[other].times_high;
	}
	return left;
}

static void raise_low(double *low, double to, double times)
{
	*low = fmax(*low, fmin(to, times));
}

static void raise_way(struct function_code *c, uint32_t way)
{
	const struct procedure_way *w = &c->procedure->ways[way];
	struct function_code_way *to = &c->ways[way];
	double left = fmax(left_to(c, way, w->from, true), left_to(c, way, w->to, false));

	raise_low(&to->times_low, left, to->times);
}

static void raise_block(struct function_code *c, uint32_t block)
{
	const struct procedure *p = c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	struct function_code_block *to = &c->blocks[block];
	double in = 0, out = 0;

	for (uint32_t i = 0; i < b->n_in; i++)
		in += c->ways[p->ways_in[b->first_in + i]].times_low;
	for (uint32_t i = 0; i < b->n_out; i++)
		out += c->ways[b->first_out + i].times_low;
	raise_low(&to->times_low, fmax(in, out), to->times);
}

void frequency_seen_begin(struct function_code *c)
{
	const struct procedure *p = c->procedure;
	own(seen_fini) struct seen s = {
		.p = p,
		.block = xcalloc(p->n_blocks + 1, sizeof(*s.block)),
		.way = xcalloc(p->n_ways + 1, sizeof(*s.way)),
		.todo = xcalloc(p->n_blocks + 1, sizeof(*s.todo)),
	};

	look(&s, c);
	forget_unseen(&s, c);
	for (uint32_t i = 0; i < p->n_ways; i++)
		raise_way(c, i);
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (!s.block[i])
			raise_block(c, i);
	for (uint32_t i = 0; i < p->n_ways; i++)
		function_ways_follow_block(c, i);
}
