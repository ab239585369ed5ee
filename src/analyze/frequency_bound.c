/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frequency_bound.h"

#include <math.h>

#include "analyze/function_code.h"
#include "analyze/function_ways.h"

/* The best case of what was counted took up to a fifth longer than was sampled (sha256 of
 * openssl on Zen 5), and of what has few samples chance makes it more. */
#define ROOM	   1.25
#define DEVIATIONS 2.0
#define N_TURNS	   30 /* of halving: more than enough for two digits */

/* From the begin of a range to its end.  From nothing there is no factor. */
static double between(double low, double high, double at)
{
	return low > 0 ? low * pow(high / low, at) : high * at;
}

static double best_at(const struct function_code *c, double at)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->procedure->n_blocks; i++) {
		const struct function_code_block *b = &c->blocks[i];

		sum += fmax(0, b->ideal) *
		       fmax(0, between(b->times_low, b->times_high, at));
	}
	return sum;
}

static double best_of(const struct function_code *c)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		sum += fmax(0, c->blocks[i].ideal) * fmax(0, c->blocks[i].times);
	return sum;
}

/* How far the ranges may go. */
static double find_end(const struct function_code *c, double most)
{
	double from = 0, to = 1;

	for (int turn = 0; turn < N_TURNS; turn++) {
		double middle = (from + to) / 2;

		if (best_at(c, middle) <= most)
			from = middle;
		else
			to = middle;
	}
	return from;
}

static void bound(double *times, double low, double *high, double end, double part)
{
	if (*times <= 0)
		return;
	*high = between(low, *high, end);
	*times = fmin(fmax(*times * part, low), *high);
}

double frequency_bound_most(double cycles, uint64_t samples, double cycles_of_sample)
{
	return ROOM * cycles + DEVIATIONS * sqrt((double)samples) * cycles_of_sample;
}

void frequency_bound(struct function_code *c, double cycles_of_sample)
{
	const struct procedure *p = c->procedure;
	double most = frequency_bound_most(c->cycles, c->samples, cycles_of_sample);
	double best = best_of(c), end, part;

	if (!c->is_estimated || c->confidence != FREQUENCY_LOW || best_at(c, 1) <= most)
		return;
	end = find_end(c, most);
	part = best > most ? most / best : 1;
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		struct function_code_block *b = &c->blocks[i];

		bound(&b->times, b->times_low, &b->times_high, end, part);
		for (uint32_t k = p->blocks[i].first_step;
		     k < p->blocks[i].first_step + p->blocks[i].n_steps; k++)
			c->steps[k].times = b->times;
	}
	for (uint32_t i = 0; i < p->n_ways; i++) {
		struct function_code_way *w = &c->ways[i];

		bound(&w->times, w->times_low, &w->times_high, end, part);
	}
	function_ways_enter(c);
}
