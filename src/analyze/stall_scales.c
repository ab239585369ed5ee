/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_scales.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* A function as if it had been executed oftener, or more seldom. */
struct scaled {
	struct function_code code; /* owns how often, borrows all else */
};

static void scaled_fini(struct scaled *s)
{
	free(s->code.steps);
	free(s->code.blocks);
	free(s->code.ways);
}

/* Of a block's times; at: 0 at the begin of its range, 1 at the end.  Where samples are
 * it was not executed never. */
static double factor(const struct function_code_block *b, double at)
{
	if (b->times <= 0 || (b->times_low <= 0 && b->samples))
		return 1;
	if (b->times_low <= 0)
		return at * b->times_high / b->times;
	return exp(log(b->times_low / b->times) + at * log(b->times_high / b->times_low));
}

static void scale_block(struct scaled *s, uint32_t block, double by)
{
	const struct procedure_block *b = &s->code.procedure->blocks[block];

	s->code.blocks[block].times *= by;
	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++)
		s->code.steps[i].times *= by;
}

/* As the block that it leaves; who comes from outside, as the one that it leads to. */
static void scale_way(struct scaled *s, uint32_t way, const double *by)
{
	const struct procedure_way *w = &s->code.procedure->ways[way];
	struct function_code_way *to = &s->code.ways[way];
	uint32_t end = w->from == PROCEDURE_OUTSIDE ? w->to : w->from;

	if (end == PROCEDURE_OUTSIDE || to->times < 0)
		return;
	to->times *= by[end];
	to->times_low *= by[end];
	to->times_high *= by[end];
}

static void scale(struct scaled *ret, const struct function_code *c, double at)
{
	const struct procedure *p = c->procedure;
	own(freep) double *by = xcalloc(p->n_blocks + 1, sizeof(*by));

	ret->code = *c;
	ret->code.steps = xmemdup(c->steps, (p->n_steps + 1) * sizeof(*c->steps));
	ret->code.blocks = xmemdup(c->blocks, (p->n_blocks + 1) * sizeof(*c->blocks));
	ret->code.ways = xmemdup(c->ways, (p->n_ways + 1) * sizeof(*c->ways));
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		by[i] = factor(&c->blocks[i], at);
		scale_block(ret, i, by[i]);
	}
	for (uint32_t i = 0; i < p->n_ways; i++)
		scale_way(ret, i, by);
}

static void add_at(struct stall_sum *to, const struct function_code *c, double at)
{
	own(scaled_fini) struct scaled scaled = { 0 };
	own(stall_fini) struct stalls s = { 0 };

	scale(&scaled, c, at);
	stall_find_all(&s, &scaled.code);
	stall_sum_add(to, &scaled.code, &s);
}

static void bound(struct stall_scales *s)
{
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		s->low[i] = INFINITY;
		s->high[i] = 0;
		for (unsigned k = 0; k < STALL_SCALES_MANY; k++) {
			s->low[i] = fmin(s->low[i], s->at[k].low[i]);
			s->high[i] = fmax(s->high[i], s->at[k].high[i]);
		}
	}
}

void stall_scales_add(struct stall_scales *to, const struct function_code *c)
{
	struct stall_scales own = { 0 };

	for (unsigned i = 0; i < STALL_SCALES_MANY; i++)
		add_at(&own.at[i], c, (double)i / (STALL_SCALES_MANY - 1));
	bound(&own);
	stall_scales_merge(to, &own);
}

void stall_scales_merge(struct stall_scales *to, const struct stall_scales *from)
{
	for (unsigned i = 0; i < STALL_SCALES_MANY; i++)
		stall_sum_merge(&to->at[i], &from->at[i]);
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		to->low[i] += from->low[i];
		to->high[i] += from->high[i];
	}
}

void stall_scales_settle(struct stall_scales *s)
{
	for (unsigned i = 0; i < STALL_SCALES_MANY; i++)
		stall_sum_settle(&s->at[i]);
	for (unsigned i = 0; i < STALL_N_CAUSES; i++)
		for (unsigned k = 0; k < STALL_SCALES_MANY; k++) {
			s->low[i] = fmin(s->low[i], s->at[k].low[i]);
			s->high[i] = fmax(s->high[i], s->at[k].high[i]);
		}
}
