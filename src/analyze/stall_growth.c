/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/stall_group.h"
#include "analyze/stall_rules.h"
#include "base/mem.h"

#define DEVIATIONS 2.0 /* of a place or a group: that chance may make */

/* One run, and what a sample of it is. */
struct side {
	const struct function_code *c;
	double sample;
	double runs;
};

struct growing {
	struct side a, b;
	struct stall_growth *to;
	uint32_t function;
	uint32_t *group;		/* [block] */
	double *net, *longer, *shorter; /* [group]: all, and what counts either way */
};

static void growing_fini(struct growing *g)
{
	free(g->group);
	free(g->net);
	free(g->longer);
	free(g->shorter);
}

void stall_growth_fini(struct stall_growth *g)
{
	vec_fini(&g->places);
}

static struct side side_of(const struct function_code *c)
{
	double runs = function_code_runs(c);

	return (struct side){ .c = c,
			      .runs = runs,
			      .sample = c->samples ? c->cycles / (double)c->samples / runs
						   : 0 };
}

static bool is_same_code(const struct function_code *a, const struct function_code *b)
{
	return a->code.size == b->code.size &&
	       (!a->code.size || memcmp(a->code.data, b->code.data, a->code.size) == 0) &&
	       a->procedure->n_steps == b->procedure->n_steps &&
	       a->procedure->n_blocks == b->procedure->n_blocks;
}

/* step: PROCEDURE_OUTSIDE: on the way to the block. */
static double cycles_at(const struct side *s, uint32_t block, uint32_t step)
{
	return (step == PROCEDURE_OUTSIDE ? s->c->blocks[block].arrival
					  : s->c->steps[step].cycles) /
	       s->runs;
}

static double error_of(const struct growing *g, double a, double b)
{
	return DEVIATIONS *
	       sqrt(a * g->a.sample + b * g->b.sample + g->a.sample * g->b.sample);
}

/* Of a place; 0: it may be chance. */
static double certain(const struct growing *g, uint32_t block, uint32_t step)
{
	double a = cycles_at(&g->a, block, step), b = cycles_at(&g->b, block, step);

	return fabs(b - a) > error_of(g, a, b) ? b - a : 0;
}

static void measure(struct growing *g, uint32_t block, uint32_t step)
{
	uint32_t group = g->group[block];
	double grown = certain(g, block, step);

	g->net[group] += cycles_at(&g->b, block, step) - cycles_at(&g->a, block, step);
	g->longer[group] += fmax(0, grown);
	g->shorter[group] += fmax(0, -grown);
}

/* What retires together waits together: of what some took longer, what others took less
 * was only moved. */
static double part_of(const struct growing *g, uint32_t block, double grown)
{
	uint32_t group = g->group[block];
	double net = g->net[group];
	double all = grown > 0 ? g->longer[group] : g->shorter[group];

	if (net * grown <= 0 || all <= 0)
		return 0;
	return fmin(1, fabs(net) / all);
}

/* Cycles that a culprit can be guilty of, all times of a run together. */
static double most_of(const struct stall_culprit *x, double times, double grown)
{
	return x->most < 0 ? grown : fmin(grown, x->most * times);
}

static void share_out(struct growing *g, const struct stall *s, double grown, double sign,
		      double times)
{
	double most[STALL_N_CAUSES] = { 0 }, all = 0;

	for (unsigned i = 0; i < s->n; i++) {
		double *of = &most[s->culprits[i].cause];

		*of = fmin(grown, *of + most_of(&s->culprits[i], times, grown));
	}
	for (unsigned i = 0; i < STALL_N_CAUSES; i++)
		all += most[i];
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		double least = fmax(0, fmin(most[i], grown - (all - most[i])));

		g->to->low[i] += sign > 0 ? least : -most[i];
		g->to->high[i] += sign > 0 ? most[i] : -least;
	}
	g->to->unexplained += sign * fmax(0, grown - all);
}

static unsigned causes_of(const struct stall *s)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < s->n; i++)
		bits |= s->culprits[i].is_unlikely ? 0 : 1u << s->culprits[i].cause;
	return bits;
}

static void keep_place(struct growing *g, uint32_t block, uint32_t step, double grown,
		       const struct stall *s)
{
	const struct procedure *p = g->b.c->procedure;
	bool is_arrival = step == PROCEDURE_OUTSIDE;

	*vec_push(&g->to->places) = (struct stall_growth_place){
		.function = g->function,
		.address = is_arrival ? p->blocks[block].start : p->steps[step].address,
		.is_arrival = is_arrival,
		.cycles = grown,
		.causes = causes_of(s),
	};
}

/* By what cannot be ruled out where it took longer. */
static void blame(struct growing *g, uint32_t block, uint32_t step)
{
	double grown = certain(g, block, step);
	const struct side *side = grown > 0 ? &g->b : &g->a;
	const struct function_code *c = side->c;
	const struct function_code_block *b = &c->blocks[block];
	struct stall_scene scene = { .c = c, .is_alone = c->is_alone };
	struct stall s = { 0 };

	grown *= part_of(g, block, grown);
	if (grown == 0 || b->times <= 0)
		return;
	s.cycles = s.low = s.high = fabs(grown) * side->runs / b->times;
	stall_loop_find(&scene.loop, c, block);
	if (step == PROCEDURE_OUTSIDE)
		stall_rules_arrival(&scene, &s);
	else
		stall_rules_step(&scene, &s, step);
	stall_loop_fini(&scene.loop);
	share_out(g, &s, fabs(grown), grown > 0 ? 1 : -1,
		  fmax(b->times, b->times_high) / side->runs);
	keep_place(g, block, step, grown, &s);
	g->to->spread -= grown;
}

static void each_place(struct growing *g,
		       void (*fn)(struct growing *g, uint32_t block, uint32_t step))
{
	const struct procedure *p = g->b.c->procedure;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];

		fn(g, i, PROCEDURE_OUTSIDE);
		for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++)
			fn(g, i, k);
	}
}

bool stall_growth_add(struct stall_growth *to, const struct function_code *a,
		      const struct function_code *b, uint32_t function)
{
	uint32_t n = b->procedure->n_blocks + 1;
	own(growing_fini) struct growing g = {
		.a = side_of(a), .b = side_of(b), .to = to, .function = function
	};
	double of_a = a->cycles / g.a.runs, of_b = b->cycles / g.b.runs;

	if (!is_same_code(a, b))
		return false;
	g.group = stall_group_find(b);
	g.net = xcalloc(n, sizeof(*g.net));
	g.longer = xcalloc(n, sizeof(*g.longer));
	g.shorter = xcalloc(n, sizeof(*g.shorter));
	to->cycles += of_b - of_a;
	to->spread += of_b - of_a;
	to->error = hypot(to->error, error_of(&g, of_a, of_b));
	each_place(&g, measure);
	each_place(&g, blame);
	return true;
}
