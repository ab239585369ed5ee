/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frequency_waiting.h"

#include "analyze/function_code.h"

#define MOST_TIME     0.5 /* of the function's, is of the load */
#define LEAST_SHARE   0.2 /* of the executions: guesses are by what three of four take */
#define WORST	      1000.0 /* cycles of a miss of caches and of a TLB */
#define HELD_LINES    256    /* who is seen in no more of them does not wait */
#define LEAST_SAMPLES 16

static double cycles_of(const struct function_code *c, uint32_t block, uint32_t step)
{
	bool is_first = step == c->procedure->blocks[block].first_step;

	return c->steps[step].cycles + (is_first ? c->blocks[block].arrival : 0);
}

static bool is_at_hand(const struct function_code *c, uint32_t step)
{
	const struct access_place *a = access_places_of(&c->accesses, step);
	double lines = a ? distinct_count(&a->lines) : 0;

	return a && a->samples >= LEAST_SAMPLES && lines <= HELD_LINES &&
	       2 * distinct_once(&a->lines) <= lines;
}

static double executed(const struct function_code *c, const double *of_block)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		sum += of_block[i] * c->procedure->blocks[i].n_steps;
	return sum;
}

double frequency_waiting_least(const struct function_code *c, const double *of_block)
{
	const struct procedure *p = c->procedure;
	double least_times = LEAST_SHARE * executed(c, of_block);

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];

		if (of_block[i] <= 0 || of_block[i] < least_times)
			continue;
		for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++) {
			double cycles = cycles_of(c, i, k);

			if (cycles >= MOST_TIME * c->cycles &&
			    c->steps[k].operation.loads && !is_at_hand(c, k))
				return cycles / of_block[i] / WORST;
		}
	}
	return 0;
}
