/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_sum.h"

#include <math.h>
#include <string.h>

#include "analyze/frequency_bound.h"
#include "base/mem.h"

#define DEVIATIONS 2.0 /* what is within may be chance */

void stall_sum_ranges(const struct stall *s, double low[STALL_N_CAUSES],
		      double high[STALL_N_CAUSES])
{
	double all = 0, explained = s->cycles - s->unexplained;

	memset(low, 0, STALL_N_CAUSES * sizeof(*low));
	memset(high, 0, STALL_N_CAUSES * sizeof(*high));
	for (unsigned i = 0; i < s->n; i++) {
		const struct stall_culprit *x = &s->culprits[i];

		high[x->cause] += x->most < 0 ? explained : fmin(x->most, explained);
	}
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		high[i] = fmin(high[i], explained);
		all += high[i];
	}
	for (unsigned i = 0; i < STALL_N_CAUSES; i++)
		low[i] = fmax(0, explained - (all - high[i]));
}

static void add_chance(struct stall_chance *to, const struct stall *s,
		       const double high[STALL_N_CAUSES], double times)
{
	to->excess += s->cycles * times;
	to->explained += (s->cycles - s->unexplained) * times;
	for (unsigned i = 0; i < STALL_N_CAUSES; i++)
		to->high[i] += high[i] * times;
}

static double certain(const struct stall *s)
{
	return s->is_chance ? 0 : s->cycles;
}

static void add_stall(struct stall_sum *to, const struct stall *s, double times)
{
	double low[STALL_N_CAUSES], high[STALL_N_CAUSES];
	unsigned n = 0;

	if (s->cycles <= 0)
		return;
	stall_sum_ranges(s, low, high);
	if (s->is_chance) {
		add_chance(&to->chance, s, high, times);
		return;
	}
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		to->low[i] += low[i] * times;
		to->high[i] += high[i] * times;
		n += high[i] > 0;
	}
	to->explained += (s->cycles - s->unexplained) * times;
	to->unexplained += s->unexplained * times;
	to->n_stalls++;
	to->n_candidates += n;
	to->candidates += n * s->cycles * times;
}

static double stalled_in(const struct function_code *c, const struct stalls *s,
			 uint32_t block)
{
	const struct procedure_block *b = &c->procedure->blocks[block];
	double sum = certain(&s->of_arrival[block]);

	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++)
		sum += certain(&s->of_step[i]);
	return sum * fmax(0, c->blocks[block].times);
}

static void add_block(struct stall_sum *to, const struct function_code *c,
		      const struct stalls *s, uint32_t block, double *stalled)
{
	const struct procedure_block *b = &c->procedure->blocks[block];
	const struct stall_block *x = &s->blocks[block];
	double times = c->blocks[block].times;

	if (x->best < 0) {
		to->unexplained += c->blocks[block].cycles;
		return;
	}
	to->best += x->best;
	to->instructions += times * b->n_steps;
	to->instructions_low += c->blocks[block].times_low * b->n_steps;
	to->instructions_high += c->blocks[block].times_high * b->n_steps;
	add_stall(to, &s->of_arrival[block], times);
	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++)
		add_stall(to, &s->of_step[i], times);
	*stalled += stalled_in(c, s, block);
}

/* What is neither expected nor stalled. */
static void add_rest(struct stall_sum *to, const struct stall_group *g, double stalled)
{
	double rest = g->beyond - stalled;

	if (rest < -g->error)
		to->gain += rest;
	else
		to->chance.rest += rest;
}

/* Of what is expected here a part is of instructions elsewhere, by whose end this begins:
 * on the whole what goes out comes in. */
static void share_best(struct stall_sum *to, const struct function_code *c)
{
	double all = 0, waits[SCHEDULE_N_WAITS] = { 0 }, waited = 0, scale;

	for (uint32_t i = 0; i < c->procedure->n_steps; i++) {
		const struct function_code_step *x = &c->steps[i];

		if (x->times <= 0 || x->ideal < 0)
			continue;
		all += x->times * x->ideal;
		for (unsigned w = 0; w < SCHEDULE_N_WAITS; w++)
			waits[w] += x->times * x->waits[w];
	}
	scale = all > 0 ? to->best / all : 0;
	for (unsigned w = 0; w < SCHEDULE_N_WAITS; w++) {
		to->waits[w] = waits[w] * scale;
		waited += to->waits[w];
	}
	to->execution = to->best - waited;
}

static double best_high(const struct function_code *c)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		sum += fmax(0, c->blocks[i].ideal) * fmax(0, c->blocks[i].times_high);
	return sum;
}

static void note_guessed(struct stall_sum *to, const struct function_code *c)
{
	if (!c->is_estimated || c->confidence != FREQUENCY_LOW)
		return;
	to->guessed = (struct stall_guessed){
		.samples = to->samples,
		.cycles = to->cycles,
		.best = to->best,
		.gain = to->gain,
		.chance = to->chance.rest,
		.instructions_high = to->instructions_high,
		.best_high = best_high(c),
	};
}

bool stall_sum_add(struct stall_sum *to, const struct function_code *c,
		   const struct stalls *s)
{
	struct stall_sum sum = { .cycles = c->cycles, .samples = c->samples };
	uint32_t n = c->procedure->n_blocks;
	own(freep) double *stalled = xcalloc(n + 1, sizeof(*stalled));
	double in_blocks = 0;

	for (uint32_t i = 0; i < n; i++) {
		in_blocks += c->blocks[i].cycles;
		add_block(&sum, c, s, i, &stalled[s->blocks[i].group]);
	}
	for (uint32_t i = 0; i < n; i++)
		add_rest(&sum, &s->groups[i], stalled[i]);
	if (sum.instructions <= 0)
		return false;
	if (c->is_estimated && c->retired_high > 0) {
		sum.instructions_low = c->retired_low;
		sum.instructions_high = c->retired_high;
	}
	sum.unexplained += c->cycles - in_blocks;
	share_best(&sum, c);
	note_guessed(&sum, c);
	stall_sum_merge(to, &sum);
	return true;
}

void stall_sum_merge(struct stall_sum *to, const struct stall_sum *from)
{
	to->cycles += from->cycles;
	to->samples += from->samples;
	to->instructions += from->instructions;
	to->instructions_low += from->instructions_low;
	to->instructions_high += from->instructions_high;
	to->best += from->best;
	to->execution += from->execution;
	to->explained += from->explained;
	to->unexplained += from->unexplained;
	to->gain += from->gain;
	to->error += from->error;
	to->n_stalls += from->n_stalls;
	to->n_candidates += from->n_candidates;
	to->candidates += from->candidates;
	to->chance.rest += from->chance.rest;
	to->chance.excess += from->chance.excess;
	to->chance.explained += from->chance.explained;
	to->guessed.samples += from->guessed.samples;
	to->guessed.cycles += from->guessed.cycles;
	to->guessed.best += from->guessed.best;
	to->guessed.gain += from->guessed.gain;
	to->guessed.chance += from->guessed.chance;
	to->guessed.instructions_high += from->guessed.instructions_high;
	to->guessed.best_high += from->guessed.best_high;
	for (unsigned i = 0; i < SCHEDULE_N_WAITS; i++)
		to->waits[i] += from->waits[i];
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		to->low[i] += from->low[i];
		to->high[i] += from->high[i];
		to->chance.high[i] += from->chance.high[i];
	}
}

/* So much of the best case was not. */
static void take_best(struct stall_sum *s, double cycles)
{
	double left = 1 - cycles / s->best, of_gain = fmin(cycles, -s->gain);

	s->best *= left;
	s->instructions *= left;
	s->execution *= left;
	for (unsigned i = 0; i < SCHEDULE_N_WAITS; i++)
		s->waits[i] *= left;
	s->gain += of_gain;
	s->error += cycles - of_gain;
}

/* Functions have chance each, which adds up to less than their ranges do. */
static void end_range(struct stall_sum *s)
{
	const struct stall_guessed *g = &s->guessed;
	double sample = g->samples ? g->cycles / (double)g->samples : 0;
	double most = frequency_bound_most(g->cycles, g->samples, sample);

	if (g->best_high > most)
		s->instructions_high -= g->instructions_high * (1 - most / g->best_high);
}

/* As often as a guess is too high another is too low: what is less than at best in one
 * function has time that chance left in others. */
static void offset_guessed(struct stall_sum *s)
{
	double both = fmin(-s->guessed.gain, s->guessed.chance);

	if (both <= 0)
		return;
	s->gain += both;
	s->chance.rest -= both;
}

static void settle_guessed(struct stall_sum *s)
{
	double lacks = -(s->gain + fmin(0, s->error));
	double rest = s->guessed.gain + s->guessed.chance;
	double too_much = fmin(fmin(-rest, s->guessed.best), lacks);

	end_range(s);
	if (too_much > 0)
		take_best(s, too_much);
	s->instructions_low = fmin(s->instructions_low, s->instructions);
	s->instructions_high = fmax(s->instructions_high, s->instructions);
	s->guessed = (struct stall_guessed){ 0 };
}

static void settle_chance(struct stall_sum *s)
{
	const struct stall_chance *x = &s->chance;
	double sample = s->samples ? s->cycles / (double)s->samples : 0;
	double part = x->excess > 0 ? fmin(1, x->rest / x->excess) : 0;

	if (fabs(x->rest) <= DEVIATIONS * sqrt((double)s->samples) * sample) {
		s->error += x->rest;
	} else if (x->rest < 0) {
		s->gain += x->rest;
	} else {
		for (unsigned i = 0; i < STALL_N_CAUSES; i++)
			s->high[i] += x->high[i] * part;
		s->explained += x->explained * part;
		s->unexplained += x->rest - x->explained * part;
	}
	s->chance = (struct stall_chance){ 0 };
}

void stall_sum_settle(struct stall_sum *s)
{
	offset_guessed(s);
	settle_chance(s);
	settle_guessed(s);
}

double stall_sum_static(const struct stall_sum *s)
{
	double sum = 0;

	for (unsigned i = 0; i < SCHEDULE_N_WAITS; i++)
		sum += s->waits[i];
	return sum;
}

double stall_sum_dynamic(const struct stall_sum *s)
{
	return s->explained + s->unexplained + s->gain;
}
