/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchored.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/anchoring.h"
#include "analyze/function_code.h"
#include "analyze/function_ways.h"
#include "base/mem.h"
#include "insn/flow_solve.h"
#include "insn/machine_model.h"

#define HIGH_OFF   0.10 /* at most, in 19 of 20 cases */
#define MEDIUM_OFF 0.35
/* Counts do not fit exactly where windows begin and end. */
#define COUNT_DOUBT 0.02
#define CHANCE	    1.3 /* standard deviations of a count: nine times in ten */
/* Of the function's time, what is of blocks that were in some window.  Where it is less,
 * windows met something else of the function: how often it was called, but not its loop.
 */
#define LEAST_MET 0.5
#define WORST	  1000.0 /* cycles that an instruction takes at most */

struct anchoring_flow {
	struct function_code *c;
	const struct anchoring_block *blocks;
	const struct anchoring_way *ways;
	struct flow_solve_block *flow_blocks;
	struct flow_solve_way *flow_ways;
	struct flow_solve solution;
};

static void flow_fini(struct anchoring_flow *f)
{
	free(f->flow_blocks);
	free(f->flow_ways);
	flow_solve_fini(&f->solution);
}

static uint32_t place_of(uint32_t block)
{
	return block == PROCEDURE_OUTSIDE ? FLOW_SOLVE_OUTSIDE : block;
}

/* A block's time is how often it was executed, then. */
static void state_blocks(struct anchoring_flow *f)
{
	const struct procedure *p = f->c->procedure;

	for (uint32_t i = 0; i < p->n_blocks; i++)
		f->flow_blocks[i] = (struct flow_solve_block){
			.time = f->blocks[i].times,
			.cost = f->blocks[i].times > 0 || !f->c->blocks[i].samples,
			.is_open_in = p->blocks[i].has_unknown_ways_in,
			.is_open_out = p->blocks[i].has_unknown_ways_out,
		};
}

/* In windows, or by samples. */
static double seen(const struct anchoring_flow *f, uint32_t way)
{
	const struct anchoring_way *w = &f->ways[way];

	return w->is_told ? w->share * f->blocks[f->c->procedure->ways[way].from].times
			  : (double)f->c->ways[way].told;
}

static void state_ways(struct anchoring_flow *f)
{
	const struct procedure *p = f->c->procedure;

	for (uint32_t i = 0; i < p->n_ways; i++)
		f->flow_ways[i] =
			(struct flow_solve_way){ .from = place_of(p->ways[i].from),
						 .to = place_of(p->ways[i].to),
						 .seen = seen(f, i) };
}

static enum frequency_confidence confidence_of(double off)
{
	if (off <= HIGH_OFF)
		return FREQUENCY_HIGH;
	return off <= MEDIUM_OFF ? FREQUENCY_MEDIUM : FREQUENCY_LOW;
}

/* What was in no window, but has samples, went on for their time: at least as often as
 * if all of it waited each time, and no oftener than it can retire. */
static void widen_by_time(const struct function_code *c, uint32_t block)
{
	struct function_code_block *to = &c->blocks[block];
	double each = to->cycles / c->procedure->blocks[block].n_steps;
	double sure = fmax(0, 1 - CHANCE / sqrt((double)to->samples + 1));
	double least = sure * each / WORST;

	to->times_high = fmax(to->times_high, each * c->model->retire_width);
	if (to->times < least)
		to->times = sqrt(least * to->times_high);
	to->times_low = fmax(to->times_low, least);
}

static void publish_block(const struct anchoring_flow *f, uint32_t block)
{
	const struct procedure_block *b = &f->c->procedure->blocks[block];
	struct function_code_block *to = &f->c->blocks[block];
	bool is_counted = f->blocks[block].times > 0;
	double off = is_counted
			     ? f->blocks[block].off
			     : ANCHORING_UNSEEN + CHANCE / sqrt((double)to->samples + 1);

	to->times = is_counted ? f->blocks[block].times : f->solution.of_block[block];
	if (to->samples)
		to->times = fmax(to->times, 1);
	to->times_low = to->times * exp(-off);
	to->times_high = to->times * exp(off);
	if (!is_counted && to->samples)
		widen_by_time(f->c, block);
	to->confidence = (uint8_t)(is_counted ? confidence_of(off) : FREQUENCY_LOW);
	for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++)
		f->c->steps[k].times = to->times;
}

/* Of a block the part that went there in windows.  What none of these saw, the next one
 * might have. */
static void publish_told(const struct anchoring_flow *f, uint32_t way)
{
	const struct anchoring_way *w = &f->ways[way];
	const struct function_code_block *b =
		&f->c->blocks[f->c->procedure->ways[way].from];
	struct function_code_way *to = &f->c->ways[way];
	double off = hypot(w->off, log(b->times_high / b->times));

	to->is_in_windows = true;
	to->times = w->share * b->times;
	to->times_low = to->times * exp(-off);
	to->times_high = w->share > 0 ? fmin(to->times * exp(off), b->times_high)
				      : b->times_high / (f->c->n_windows + 1);
	to->confidence = (uint8_t)(w->share > 0 ? confidence_of(off) : FREQUENCY_LOW);
}

/* Of what leaves a block the part that the flow has; ways in from outside are as the flow
 * has them. */
static void publish_way(const struct anchoring_flow *f, uint32_t way)
{
	const struct procedure *p = f->c->procedure;
	const struct procedure_way *w = &p->ways[way];
	struct function_code_way *to = &f->c->ways[way];
	uint32_t end = w->from == PROCEDURE_OUTSIDE ? w->to : w->from;
	const struct function_code_block *b =
		end == PROCEDURE_OUTSIDE ? NULL : &f->c->blocks[end];
	double often = b ? f->solution.of_block[end] : 0, off = ANCHORING_UNSEEN;

	if (function_ways_follow_block(f->c, way))
		return;
	if (f->ways[way].is_told && b->times > 0) {
		publish_told(f, way);
		return;
	}
	to->times = f->solution.of_way[way];
	if (often > 0)
		to->times *= b->times / often;
	if (to->told)
		off = CHANCE / sqrt((double)to->told_samples + 1);
	if (b && b->times > 0)
		off += log(b->times_high / b->times);
	to->times_low = to->times * exp(-off);
	to->times_high = to->times * exp(off);
	to->confidence = (uint8_t)confidence_of(off);
}

static void publish(const struct anchoring_flow *f)
{
	struct function_code *c = f->c;
	uint32_t entry = c->procedure->entry;

	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		publish_block(f, i);
	for (uint32_t i = 0; i < c->procedure->n_ways; i++)
		publish_way(f, i);
	function_ways_enter(c);
	if (entry != PROCEDURE_OUTSIDE)
		c->confidence = c->blocks[entry].confidence;
	c->is_estimated = true;
}

static bool are_met(const struct function_code *c, const struct anchoring_block *blocks)
{
	double met = 0, all = 0;

	for (uint32_t i = 0; i < c->procedure->n_blocks; i++) {
		all += c->blocks[i].cycles;
		met += blocks[i].times > 0 ? c->blocks[i].cycles : 0;
	}
	return met >= LEAST_MET * all;
}

bool anchored_estimate(struct function_code *c, const struct anchoring_block *blocks,
		       const struct anchoring_way *ways)
{
	const struct procedure *p = c->procedure;
	own(flow_fini) struct anchoring_flow f = {
		.c = c,
		.blocks = blocks,
		.ways = ways,
		.flow_blocks = xcalloc(p->n_blocks + 1, sizeof(*f.flow_blocks)),
		.flow_ways = xcalloc(p->n_ways + 1, sizeof(*f.flow_ways)),
	};
	struct flow_solve_problem problem = { .n_blocks = p->n_blocks,
					      .n_ways = p->n_ways,
					      .blocks = f.flow_blocks,
					      .ways = f.flow_ways,
					      .grain = 1,
					      .doubt = COUNT_DOUBT };

	if (!are_met(c, blocks))
		return false;
	state_blocks(&f);
	state_ways(&f);
	flow_solve_make(&f.solution, &problem);
	publish(&f);
	return true;
}
