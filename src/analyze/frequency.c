/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frequency.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/flow_share.h"
#include "analyze/frequency_seen.h"
#include "analyze/frequency_waiting.h"
#include "analyze/function_code.h"
#include "analyze/function_ways.h"
#include "base/mem.h"
#include "insn/flow_solve.h"
#include "insn/machine_model.h"

/* What an instruction may be expected to take, beside the best case: made of it, of the
 * slot that it takes, and of a load's waits.  Chosen, as all of these numbers, with the
 * programs that bench/accuracy calls TUNE. */
#define BEST  0.9
#define SLOT  0.8 /* of the time that a slot takes */
#define LOAD  0.9 /* cycles */
#define DOUBT 0.6 /* of that, in logarithms */
/* An instruction that takes so many times as long as this, and what is always there,
 * waits for something; so much of it counts. */
#define PLAIN_TIMES 4
#define PLAIN_ROOM  0.25
#define N_TURNS	    30 /* of finding that */
/* The guess by latencies: without the first instructions of a block, which wait for it to
 * be fetched, and of instructions with so many samples. */
#define HEAD	      4
#define MIN_SAMPLES   30
#define TRUST_SAMPLES 20 /* by half if it is of so many */
/* Three of four executions take no more than so many cycles, or what they take at best:
 * what waits is the rest. */
#define MOST	    0.75
#define MOST_AROUND 0.05
#define MOST_CYCLES 0.55
/* In each guess. */
#define TRUST_COST    0.2
#define TRUST_LATENCY 0.2
#define TRUST_MOST    0.7
/* How far the range goes on beyond the guesses, a logarithm: so far that nine in ten have
 * the truth, on the machine on which the guesses are farthest off (Redwood Cove). */
#define BEYOND 1.3
#define CHANCE 1.3 /* standard deviations of a count: nine times in ten */
#define ON                                                                               \
	0.97 /* the share of the way on in line of a branch forward that nobody saw      \
	      */
#define UNSEEN 0.7 /* a way's share that nobody saw, as a logarithm */
/* With a counter of instructions: so many samples of it are worth more than guesses, and
 * so many are as good as counts. */
#define MIN_RETIRED    20
#define ENOUGH_RETIRED 2000

#define MAX_BLOCKS 50000 /* some seconds: of larger functions nothing is told */

struct estimating {
	struct function_code *c;
	double *cost; /* [step] */
	struct flow_solve_block *blocks;
	struct flow_solve_way *ways;
	struct flow_solve solution;
	double cycles_of_sample;
	double scale, low, high; /* of the solution */
	bool is_counted;	 /* that, by a counter */
	double *share;		 /* flow_share */
};

/* How far off a block is in 19 of 20 cases then, as a logarithm, by the share of the
 * function's instructions that are executed as often as it: also of TUNE. */
static const struct {
	double share, off;
} shape_off[] = { { 0.5, 0.055 }, { 0.3, 0.17 }, { 0, 0.7 } };

static const char *const texts[] = {
	[FREQUENCY_UNKNOWN] = "none",
	[FREQUENCY_LOW] = "low",
	[FREQUENCY_MEDIUM] = "medium",
	[FREQUENCY_HIGH] = "high",
};

const char *frequency_confidence_text(enum frequency_confidence confidence)
{
	return texts[confidence];
}

static void estimating_fini(struct estimating *e)
{
	free(e->cost);
	free(e->blocks);
	free(e->ways);
	free(e->share);
	flow_solve_fini(&e->solution);
}

/* The shape. */

static double expected_cost(const struct function_code *c, uint32_t step)
{
	const struct operation *o = &c->steps[step].operation;
	double cost =
		BEST * fmax(0, c->steps[step].ideal) + SLOT / c->model->dispatch_width;

	return cost + (o->loads || o->pops ? LOAD : 0);
}

static void state_blocks(struct estimating *e)
{
	const struct procedure *p = e->c->procedure;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];
		double cost = 0;

		for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++) {
			e->cost[k] = expected_cost(e->c, k);
			cost += e->cost[k];
		}
		e->blocks[i] = (struct flow_solve_block){
			.time = e->c->blocks[i].cycles,
			.cost = cost,
			.is_open_in = b->has_unknown_ways_in,
			.is_open_out = b->has_unknown_ways_out,
		};
	}
}

static uint32_t place_of(uint32_t block)
{
	return block == PROCEDURE_OUTSIDE ? FLOW_SOLVE_OUTSIDE : block;
}

static bool is_backwards(const struct procedure *p, uint32_t way)
{
	const struct procedure_way *w = &p->ways[way];

	return w->to != PROCEDURE_OUTSIDE &&
	       p->blocks[w->to].start <= p->blocks[w->from].start;
}

/* Compilers lay out code so that what is likelier follows, but for loops; how often these
 * turn is not known by that. */
static void state_likely(struct estimating *e, uint32_t block)
{
	const struct procedure *p = e->c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	uint32_t on = function_ways_on(p, block);

	if (b->n_out != 2 || on == PROCEDURE_OUTSIDE ||
	    is_backwards(p, 2 * b->first_out + 1 - on))
		return;
	for (uint32_t i = b->first_out; i < b->first_out + b->n_out; i++)
		e->ways[i].likely = i == on ? ON : 1 - ON;
}

/* Passages of one sample depend on each other: so many count as there were samples. */
static void state_ways(struct estimating *e)
{
	const struct procedure *p = e->c->procedure;

	for (uint32_t i = 0; i < p->n_ways; i++)
		e->ways[i] = (struct flow_solve_way){ .from = place_of(p->ways[i].from),
						      .to = place_of(p->ways[i].to) };
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];
		const struct function_code_way *w = e->c->ways + b->first_out;
		double told = 0, samples = 0;

		state_likely(e, i);
		for (uint32_t k = 0; k < b->n_out; k++) {
			told += (double)w[k].told;
			samples += (double)w[k].told_samples;
		}
		for (uint32_t k = 0; k < b->n_out && told > 0; k++)
			e->ways[b->first_out + k].seen =
				(double)w[k].told * fmin(1, samples / told);
	}
}

static void solve(struct estimating *e, const struct flow_solve *near)
{
	const struct procedure *p = e->c->procedure;
	struct flow_solve_problem problem = { .n_blocks = p->n_blocks,
					      .n_ways = p->n_ways,
					      .blocks = e->blocks,
					      .ways = e->ways,
					      .grain = e->cycles_of_sample,
					      .doubt = DOUBT,
					      .near = near };

	state_blocks(e);
	state_ways(e);
	flow_solve_make(&e->solution, &problem);
}

/* The scale, guessed by cost. */

static double cycles_of(const struct function_code *c, uint32_t block, uint32_t step)
{
	bool is_first = step == c->procedure->blocks[block].first_step;

	return c->steps[step].cycles + (is_first ? c->blocks[block].arrival : 0);
}

/* Of the time, what is not far beyond what may be expected at this scale. */
static double plain_cycles(const struct estimating *e, double scale)
{
	const struct procedure *p = e->c->procedure;
	double sum = 0;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];
		double times = e->solution.of_block[i] * scale;

		for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++)
			sum += fmin(cycles_of(e->c, i, k),
				    PLAIN_TIMES * times * (PLAIN_ROOM + e->cost[k]));
	}
	return sum;
}

/* Where a few instructions have all samples, what is cut off them leaves less each turn,
 * and in the end nothing: too little is known to tell who waits. */
static bool can_cut(const struct estimating *e, double expected)
{
	const struct procedure *p = e->c->procedure;
	double most = 0; /* for each of the scale, as that goes to nothing */

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];

		for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++)
			if (cycles_of(e->c, i, k) > 0)
				most += PLAIN_TIMES * e->solution.of_block[i] *
					(PLAIN_ROOM + e->cost[k]);
	}
	return most > expected;
}

/* 0: nothing is known. */
static double scale_by_cost(const struct estimating *e)
{
	double expected = 0, scale;

	for (uint32_t i = 0; i < e->c->procedure->n_blocks; i++)
		expected += e->solution.of_block[i] * e->blocks[i].cost;
	if (expected <= 0)
		return 0;
	scale = e->c->cycles / expected;
	for (int turn = 0; turn < N_TURNS && can_cut(e, expected); turn++)
		scale = plain_cycles(e, scale) / expected;
	return scale;
}

/* ... and by latencies. */

static double latency_of(const struct function_code *c, uint32_t step)
{
	const struct machine_cost *m = &c->model->costs[c->steps[step].operation.class];
	double sum = 0;

	for (size_t i = 0; i < MACHINE_MODEL_MAX_UNITS && m->units[i].ports; i++)
		sum += m->units[i].latency;
	return fmax(1, sum);
}

/* For what is not in registers, or a time that nobody knows. */
static bool may_wait(const struct operation *o)
{
	return !o->size || o->loads || o->stores || o->pushes || o->pops ||
	       operation_is_between(o, OPERATION_DIVIDE_32, OPERATION_SERIALIZE) ||
	       operation_divides_floats(o);
}

struct longest {
	double samples; /* of all that count */
	double cycles;	/* of the one that took longest, for a cycle of its latency */
};

/* What is taken while one instruction was the oldest may be of the one before, too. */
static void take_longest(const struct estimating *e, uint32_t block, struct longest *ret)
{
	const struct function_code *c = e->c;
	const struct procedure_block *b = &c->procedure->blocks[block];
	double times = e->solution.of_block[block];

	for (uint32_t k = b->first_step + HEAD; k + 1 < b->first_step + b->n_steps; k++) {
		double samples = c->steps[k].cycles / e->cycles_of_sample;

		if (samples < MIN_SAMPLES || times <= 0 ||
		    may_wait(&c->steps[k].operation) ||
		    may_wait(&c->steps[k - 1].operation))
			continue;
		ret->cycles =
			fmax(ret->cycles, c->steps[k].cycles / times / latency_of(c, k));
		ret->samples += samples;
	}
}

/* 0: nothing is known. */
static double scale_by_latency(const struct estimating *e, double *ret_samples)
{
	struct longest l = { 0 };

	for (uint32_t i = 0; i < e->c->procedure->n_blocks; i++)
		take_longest(e, i, &l);
	*ret_samples = l.samples;
	return l.cycles;
}

/* Parts that retire alone; nops leave in pairs, branches with what they depend on. */
static uint32_t count_slots(const struct function_code *c,
			    const struct procedure_block *b)
{
	uint32_t n = 0;

	for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++) {
		const struct operation *o = &c->steps[k].operation;
		bool is_fused = o->class == OPERATION_BRANCH && k > b->first_step &&
				c->steps[k - 1].operation.may_fuse_with_branch;

		n += o->class != OPERATION_NOP && !is_fused;
	}
	return n;
}

/* The scale at which the machine would have retired as much as it can all the time. */
static double most_scale(const struct estimating *e)
{
	const struct function_code *c = e->c;
	double slots = 0;

	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		slots += e->solution.of_block[i] *
			 count_slots(c, &c->procedure->blocks[i]);
	return slots > 0 ? c->cycles * c->model->retire_width / slots : INFINITY;
}

/* ... and by what most executions take. */

struct execution {
	double each; /* cycles */
	double times;
};

static int by_each(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	return (x->each > y->each) - (x->each < y->each);
}

/* Of the logarithms between two shares of all executions, the mean. */
static double mean_between(const struct execution *x, uint32_t n, double first,
			   double last)
{
	double all = 0, before = 0, sum = 0, weight = 0;

	for (uint32_t i = 0; i < n; i++)
		all += x[i].times;
	for (uint32_t i = 0; i < n; before += x[i++].times) {
		double part =
			fmin(before + x[i].times, last * all) - fmax(before, first * all);

		if (part <= 0 || x[i].each <= 0)
			continue;
		sum += part * log(x[i].each);
		weight += part;
	}
	return weight > 0 ? exp(sum / weight) : 0;
}

/* Of three in four executions, what the longest takes.  0: nothing is known. */
static double longest_of_most(struct execution *x, uint32_t n)
{
	qsort(x, n, sizeof(*x), by_each);
	return mean_between(x, n, MOST - MOST_AROUND, MOST + MOST_AROUND);
}

static double scale_by_most(const struct estimating *e)
{
	const struct procedure *p = e->c->procedure;
	own(freep) struct execution *x = xcalloc(p->n_steps + 1, sizeof(*x));
	own(freep) struct execution *best = xcalloc(p->n_steps + 1, sizeof(*best));
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];
		double times = e->solution.of_block[i];

		for (uint32_t k = b->first_step;
		     times > 0 && k < b->first_step + b->n_steps; k++, n++) {
			x[n] = (struct execution){ cycles_of(e->c, i, k) / times, times };
			best[n] = (struct execution){ e->c->steps[k].ideal, times };
		}
	}
	return longest_of_most(x, n) / fmax(MOST_CYCLES, longest_of_most(best, n));
}

struct guesses {
	double sum, weight; /* of logarithms */
	double low, high;
	unsigned n;
};

static void take_guess(struct guesses *g, double guess, double weight)
{
	if (guess <= 0)
		return;
	g->sum += weight * log(guess);
	g->weight += weight;
	g->low = g->n ? fmin(g->low, guess) : guess;
	g->high = g->n ? fmax(g->high, guess) : guess;
	g->n++;
}

/* Then nothing is known but both ends. */
static void widen_where_all_may_wait(struct estimating *e)
{
	double least = frequency_waiting_least(e->c, e->solution.of_block);

	if (!(least > 0) || least >= e->low)
		return;
	e->low = least;
	e->scale = sqrt(e->low * e->high);
}

static void guess_scale(struct estimating *e)
{
	struct guesses g = { 0 };
	double samples, by_latency = scale_by_latency(e, &samples);

	take_guess(&g, scale_by_cost(e), TRUST_COST);
	take_guess(&g, by_latency, TRUST_LATENCY * samples / (samples + TRUST_SAMPLES));
	take_guess(&g, scale_by_most(e), TRUST_MOST);
	e->scale = g.n ? exp(g.sum / g.weight) : 0;
	e->low = g.low * exp(-BEYOND);
	e->high = g.high * exp(BEYOND);
	widen_where_all_may_wait(e);
}

/* By the counter.  False: it has too few samples. */
static bool count_scale(struct estimating *e)
{
	const struct procedure *p = e->c->procedure;
	double executed = 0, chance;

	for (uint32_t i = 0; i < p->n_blocks; i++)
		executed += e->solution.of_block[i] * p->blocks[i].n_steps;
	if (e->c->retired_samples < MIN_RETIRED || !(executed > 0))
		return false;
	chance = exp(CHANCE / sqrt(e->c->retired_samples));
	e->scale = e->c->retired / executed;
	e->low = e->scale / chance;
	e->high = e->scale * chance;
	e->c->retired_low = e->c->retired / chance;
	e->c->retired_high = e->c->retired * chance;
	flow_share_make(p, e->solution.of_block, e->share);
	return true;
}

static void find_scale(struct estimating *e)
{
	double most = most_scale(e);

	e->is_counted = count_scale(e);
	if (e->is_counted)
		return;
	guess_scale(e);
	e->high = fmin(e->high, most);
	e->scale = fmin(e->scale, e->high);
	e->low = fmin(e->low, e->high);
}

/* The outcome. */

static double off_by_shape(double share)
{
	size_t i = 0;

	while (share < shape_off[i].share)
		i++;
	return shape_off[i].off;
}

static enum frequency_confidence confidence_of(const struct estimating *e, uint32_t block)
{
	if (!e->is_counted)
		return FREQUENCY_LOW;
	return block != PROCEDURE_OUTSIDE && e->c->retired_samples >= ENOUGH_RETIRED &&
			       e->share[block] >= shape_off[0].share
		       ? FREQUENCY_HIGH
		       : FREQUENCY_MEDIUM;
}

static void publish_block(const struct estimating *e, uint32_t block)
{
	struct function_code_block *to = &e->c->blocks[block];
	const struct procedure_block *b = &e->c->procedure->blocks[block];
	double chance = exp(e->is_counted ? off_by_shape(e->share[block])
					  : CHANCE / sqrt((double)to->samples + 1));

	to->times = e->solution.of_block[block] * e->scale;
	to->times_low = e->solution.of_block[block] * e->low / chance;
	to->times_high = e->solution.of_block[block] * e->high * chance;
	to->confidence = (uint8_t)confidence_of(e, block);
	/* Where samples landed it was once at least. */
	if (to->samples) {
		to->times = fmax(to->times, 1);
		to->times_low = fmax(to->times_low, 1);
		to->times_high = fmax(to->times_high, to->times * chance);
	}
	for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++)
		e->c->steps[k].times = to->times;
}

static void publish_way(const struct estimating *e, uint32_t way)
{
	struct function_code_way *to = &e->c->ways[way];
	const struct procedure_way *w = &e->c->procedure->ways[way];
	double times = e->solution.of_way[way], off = UNSEEN;
	uint32_t end = w->from == PROCEDURE_OUTSIDE ? w->to : w->from;

	if (function_ways_follow_block(e->c, way))
		return;
	if (to->told)
		off = CHANCE / sqrt(e->ways[way].seen + 1);
	if (e->is_counted && end != PROCEDURE_OUTSIDE)
		off += off_by_shape(e->share[end]);
	to->times = times * e->scale;
	to->times_low = times * e->low * exp(-off);
	to->times_high = times * e->high * exp(off);
	to->confidence = e->is_counted && to->told ? FREQUENCY_MEDIUM : FREQUENCY_LOW;
}

static void publish(const struct estimating *e)
{
	struct function_code *c = e->c;
	uint32_t entry = c->procedure->entry;

	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		publish_block(e, i);
	for (uint32_t i = 0; i < c->procedure->n_ways; i++)
		publish_way(e, i);
	frequency_seen_begin(c);
	function_ways_enter(c);
	c->confidence = (uint8_t)confidence_of(e, entry);
	c->is_estimated = true;
}

void frequency_estimate(struct function_code *c, double cycles_of_sample,
			struct flow_solve *near)
{
	const struct procedure *p = c->procedure;
	own(estimating_fini) struct estimating e = {
		.c = c,
		.cost = xcalloc(p->n_steps + 1, sizeof(*e.cost)),
		.blocks = xcalloc(p->n_blocks + 1, sizeof(*e.blocks)),
		.ways = xcalloc(p->n_ways + 1, sizeof(*e.ways)),
		.share = xcalloc(p->n_blocks + 1, sizeof(*e.share)),
		.cycles_of_sample = cycles_of_sample,
	};

	if (p->n_blocks > MAX_BLOCKS)
		return;
	solve(&e, near);
	if (e.solution.is_coarse)
		return; /* of its loops nothing is known */
	find_scale(&e);
	if (e.scale > 0)
		publish(&e);
	flow_solve_fini(near);
	*near = e.solution;
	e.solution = (struct flow_solve){ 0 };
}
