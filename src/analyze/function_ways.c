/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/function_ways.h"

#include "analyze/function_code.h"

static bool is_only_way_in(const struct procedure *p, uint32_t block)
{
	const struct procedure_block *b = &p->blocks[block];

	return b->n_in == 1 && !b->has_unknown_ways_in;
}

static bool is_only_way_out(const struct procedure *p, uint32_t block)
{
	const struct procedure_block *b = &p->blocks[block];

	return b->n_out == 1 && !b->has_unknown_ways_out;
}

/* PROCEDURE_OUTSIDE: there is none. */
static uint32_t find_block(const struct procedure *p, uint32_t way)
{
	const struct procedure_way *w = &p->ways[way];

	if (w->from != PROCEDURE_OUTSIDE)
		return is_only_way_out(p, w->from) ? w->from : PROCEDURE_OUTSIDE;
	return w->to != PROCEDURE_OUTSIDE && is_only_way_in(p, w->to) ? w->to
								      : PROCEDURE_OUTSIDE;
}

bool function_ways_follow_block(struct function_code *c, uint32_t way)
{
	struct function_code_way *to = &c->ways[way];
	uint32_t block = find_block(c->procedure, way);

	if (block == PROCEDURE_OUTSIDE)
		return false;
	to->times = c->blocks[block].times;
	to->times_low = c->blocks[block].times_low;
	to->times_high = c->blocks[block].times_high;
	to->confidence = c->blocks[block].confidence;
	return true;
}

uint32_t function_ways_on(const struct procedure *p, uint32_t block)
{
	const struct procedure_block *b = &p->blocks[block];

	for (uint32_t way = b->first_out; way < b->first_out + b->n_out; way++) {
		uint32_t to = p->ways[way].to;

		if (to != PROCEDURE_OUTSIDE && p->blocks[to].start == b->end)
			return way;
	}
	return PROCEDURE_OUTSIDE;
}

/* Whoever enters leaves.  False: it may be by a way that is not known. */
static bool sum_exits(const struct function_code *c, struct function_code_way *ret)
{
	const struct procedure *p = c->procedure;

	*ret = (struct function_code_way){ .confidence = FREQUENCY_HIGH };
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].has_unknown_ways_in || p->blocks[i].has_unknown_ways_out)
			return false;
	for (uint32_t i = 0; i < p->n_ways; i++) {
		const struct function_code_way *w = &c->ways[i];

		if (p->ways[i].to != PROCEDURE_OUTSIDE)
			continue;
		ret->times += w->times;
		ret->times_low += w->times_low;
		ret->times_high += w->times_high;
		if (w->confidence < ret->confidence)
			ret->confidence = w->confidence;
	}
	return true;
}

/* Of 0 to 1, the higher the more is told. */
static double sharpness(const struct function_code_way *w)
{
	return w->times_high > 0 ? w->times_low / w->times_high : 0;
}

void function_ways_enter(struct function_code *c)
{
	const struct procedure *p = c->procedure;
	struct function_code_way exits;

	for (uint32_t i = 0; i < p->n_ways; i++) {
		const struct function_code_way *w = &c->ways[i];

		if (p->ways[i].from != PROCEDURE_OUTSIDE || p->ways[i].to != p->entry)
			continue;
		if (sum_exits(c, &exits) && sharpness(&exits) > sharpness(w))
			w = &exits;
		c->times = w->times;
		c->times_low = w->times_low;
		c->times_high = w->times_high;
		c->times_confidence = w->confidence;
	}
}
