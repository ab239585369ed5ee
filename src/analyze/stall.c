/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/stall_group.h"
#include "analyze/stall_rules.h"
#include "base/mem.h"

/* Samples come by chance: what so many standard deviations explain is no stall. */
#define DEVIATIONS 2.0

static const char *const texts[STALL_N_CAUSES] = {
#define CAUSE(name, text) [STALL_##name] = text,
#include "analyze/stall_causes.def"
#undef CAUSE
};

/* What is no stall: cycles each time, of the function's, samples of a block. */
struct limits {
	double least, least_share;
	uint64_t min_samples;
	bool with_chance;
};

static const struct limits all = { 0, 0, 1, true }, of_people = { 0.5, 0.005, 8, false };

const char *stall_cause_text(enum stall_cause cause)
{
	return texts[cause];
}

void stall_fini(struct stalls *s)
{
	free(s->of_step);
	free(s->of_arrival);
	free(s->blocks);
	free(s->groups);
	*s = (struct stalls){ 0 };
}

/* What is expected where. */

/* The instructions at a block's end whose samples land in what it leads to: a branch,
 * with the one that it is fused with. */
static uint32_t first_of_end(const struct function_code *c,
			     const struct procedure_block *b)
{
	uint32_t last = b->first_step + b->n_steps - 1;

	if (b->n_steps > 1 && c->steps[last].operation.class == OPERATION_BRANCH &&
	    c->steps[last - 1].operation.may_fuse_with_branch)
		return last - 1;
	return last;
}

static double best_of_end(const struct function_code *c, uint32_t block)
{
	const struct procedure_block *b = &c->procedure->blocks[block];
	double sum = 0;

	for (uint32_t i = b->n_steps ? first_of_end(c, b) : b->first_step;
	     i < b->first_step + b->n_steps; i++)
		sum += fmax(0, c->steps[i].ideal);
	return sum;
}

/* Cycles of each step as its samples will be, and of the arrival, each time. */
struct expected {
	double *steps, *arrivals;
	double outside; /* of what led here from other functions */
};

static void expected_fini(struct expected *x)
{
	free(x->steps);
	free(x->arrivals);
}

/* Who calls is not known: as much as it takes to leave, on average. */
static double best_from_outside(const struct function_code *c)
{
	const struct procedure *p = c->procedure;
	double sum = 0, all_ways = 0;

	for (uint32_t i = 0; i < p->n_ways; i++) {
		if (p->ways[i].to != PROCEDURE_OUTSIDE ||
		    p->ways[i].from == PROCEDURE_OUTSIDE)
			continue;
		sum += function_code_taken(c, i) * best_of_end(c, p->ways[i].from);
		all_ways += function_code_taken(c, i);
	}
	return all_ways > 0 ? sum / all_ways : 0;
}

static double best_of_arrival(const struct function_code *c, uint32_t block,
			      double outside)
{
	const struct procedure *p = c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	double sum = 0, all_ways = 0;

	for (uint32_t i = 0; i < b->n_in; i++) {
		uint32_t way = p->ways_in[b->first_in + i], from = p->ways[way].from;

		sum += function_code_taken(c, way) *
		       (from == PROCEDURE_OUTSIDE ? outside : best_of_end(c, from));
		all_ways += function_code_taken(c, way);
	}
	return all_ways > 0 ? sum / all_ways : outside;
}

static void expect(struct expected *ret, const struct function_code *c)
{
	const struct procedure *p = c->procedure;

	ret->steps = xcalloc(p->n_steps + 1, sizeof(*ret->steps));
	ret->arrivals = xcalloc(p->n_blocks + 1, sizeof(*ret->arrivals));
	ret->outside = best_from_outside(c);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];

		ret->arrivals[i] = best_of_arrival(c, i, ret->outside);
		for (uint32_t k = b->first_step; b->n_steps && k < first_of_end(c, b);
		     k++)
			ret->steps[k] = fmax(0, c->steps[k].ideal);
	}
}

/* How long. */

struct finding {
	const struct function_code *c;
	const struct limits *limits;
	const struct expected *expected;
	struct stalls *to;
	double sample; /* cycles of one */
};

static double error_of(const struct finding *f, double cycles)
{
	double n = f->sample > 0 ? cycles / f->sample : 0;

	return DEVIATIONS * sqrt(n + 1) * f->sample;
}

static bool counts(const struct finding *f, double each, double times)
{
	return each > 0 && each >= f->limits->least &&
	       each * times >= f->limits->least_share * f->c->cycles;
}

struct excess {
	double cycles; /* all times together, beyond what is expected */
	double all, best;
	bool is_chance;
};

static struct excess excess_of(const struct finding *f, double cycles, double best)
{
	return (struct excess){ .cycles = fmax(0, cycles - best),
				.all = cycles,
				.best = best,
				.is_chance = cycles - best <= error_of(f, best) };
}

static struct excess excess_of_step(const struct finding *f, uint32_t step, double times)
{
	return excess_of(f, f->c->steps[step].cycles, f->expected->steps[step] * times);
}

static struct excess excess_of_arrival(const struct finding *f, uint32_t block)
{
	const struct function_code_block *n = &f->c->blocks[block];

	return excess_of(f, n->arrival, f->expected->arrivals[block] * n->times);
}

static double certain(struct excess x)
{
	return x.is_chance ? 0 : x.cycles;
}

/* Into its group; false: what it would take is not known. */
static bool measure_block(const struct finding *f, uint32_t block)
{
	const struct procedure_block *b = &f->c->procedure->blocks[block];
	const struct function_code_block *n = &f->c->blocks[block];
	struct stall_block *ret = &f->to->blocks[block];
	struct stall_group *group = &f->to->groups[ret->group];

	ret->best = -1;
	if (n->times < 0 || n->ideal < 0 || (n->times == 0 && n->cycles > 0))
		return false;
	ret->best = f->expected->arrivals[block];
	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++)
		ret->best += f->expected->steps[i];
	ret->best *= n->times;
	group->best += ret->best;
	group->cycles += n->cycles;
	if (n->times == 0)
		return false;
	group->excess += certain(excess_of_arrival(f, block));
	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++)
		group->excess += certain(excess_of_step(f, i, n->times));
	return true;
}

static void measure_group(const struct finding *f, struct stall_group *g)
{
	g->beyond = g->cycles - g->best;
	g->error = error_of(f, fmax(g->cycles, g->best));
}

/* The share of what instructions took too long that others did not take less. */
static double part_of(const struct finding *f, uint32_t block)
{
	const struct stall_group *g = &f->to->groups[f->to->blocks[block].group];

	return g->excess > 0 && g->beyond > 0 ? fmin(1, g->beyond / g->excess) : 0;
}

/* Where how often is an estimate, all of it may be of more times, or of fewer. */
static void set_range(struct stall *s, const struct function_code_block *n,
		      struct excess x)
{
	double best = x.best / n->times;

	if (n->times_low == n->times_high || n->times_low <= 0)
		return;
	s->low = fmin(s->cycles, fmax(0, x.all / n->times_high - best));
	s->high = fmax(s->cycles, x.all / n->times_low - best);
}

/* Whether it is one; part: of what it took too long. */
static bool begin_stall(const struct finding *f, struct stall *s, struct excess x,
			double part, const struct function_code_block *n)
{
	double each = x.cycles * (x.is_chance ? 1 : part) / n->times;

	if ((x.is_chance && !f->limits->with_chance) || !counts(f, each, n->times))
		return false;
	*s = (struct stall){
		.cycles = each, .low = each, .high = each, .is_chance = x.is_chance
	};
	set_range(s, n, x);
	return true;
}

static void find_in_block(const struct finding *f, uint32_t block)
{
	const struct function_code *c = f->c;
	const struct procedure_block *b = &c->procedure->blocks[block];
	const struct function_code_block *n = &c->blocks[block];
	double part = part_of(f, block);
	struct stall_scene scene = { .c = c, .is_alone = c->is_alone };
	struct stall *s = &f->to->of_arrival[block];

	if (part <= 0 && !f->limits->with_chance)
		return;
	stall_loop_find(&scene.loop, c, block);
	if (begin_stall(f, s, excess_of_arrival(f, block), part, n))
		stall_rules_arrival(&scene, s);
	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++)
		if (begin_stall(f, &f->to->of_step[i], excess_of_step(f, i, n->times),
				part, n))
			stall_rules_step(&scene, &f->to->of_step[i], i);
	stall_loop_fini(&scene.loop);
}

static void find(struct stalls *ret, const struct function_code *c,
		 const struct limits *limits)
{
	const struct procedure *p = c->procedure;
	own(expected_fini) struct expected expected = { 0 };
	own(freep) uint32_t *group = stall_group_find(c);
	own(freep) bool *can_stall = xcalloc(p->n_blocks + 1, sizeof(*can_stall));
	struct finding f = { .c = c,
			     .limits = limits,
			     .expected = &expected,
			     .to = ret,
			     .sample = c->samples ? c->cycles / (double)c->samples : 0 };

	ret->of_step = xcalloc(p->n_steps + 1, sizeof(*ret->of_step));
	ret->of_arrival = xcalloc(p->n_blocks + 1, sizeof(*ret->of_arrival));
	ret->blocks = xcalloc(p->n_blocks + 1, sizeof(*ret->blocks));
	ret->groups = xcalloc(p->n_blocks + 1, sizeof(*ret->groups));
	expect(&expected, c);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		ret->blocks[i].group = group[i];
		can_stall[i] = measure_block(&f, i);
	}
	for (uint32_t i = 0; i < p->n_blocks; i++)
		measure_group(&f, &ret->groups[i]);
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (can_stall[i] && c->blocks[i].samples >= limits->min_samples)
			find_in_block(&f, i);
}

void stall_find(struct stalls *ret, const struct function_code *c)
{
	find(ret, c, &of_people);
}

void stall_find_all(struct stalls *ret, const struct function_code *c)
{
	find(ret, c, &all);
}
