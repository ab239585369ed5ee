/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_sum - where the cycles of functions went: execution, what the machine makes wait
 * in any case, stalls by cause, and what nobody can explain.
 *
 * All parts add up to the cycles.  A cause has a range: as much as can be due to it, and
 * as much as can be due to nothing else.
 *
 * Of what was counted the best case may be more than the cycles: that is a gain, or an
 * error.  A guess by which it is more is too high a guess, so of these no more is told
 * than the cycles, though each function alone may have had few samples by chance.
 */
#ifndef DWELL_ANALYZE_STALL_SUM_H
#define DWELL_ANALYZE_STALL_SUM_H

#include "analyze/stall.h"

/* In cycles, if nothing else is said. */
struct stall_sum {
	double cycles;
	uint64_t samples;
	double instructions, best; /* executed; what they take at best */
	/* The same, where it is a range. */
	double instructions_low, instructions_high;
	double execution; /* as long as it takes to let all of them in */
	double waits[SCHEDULE_N_WAITS];
	double low[STALL_N_CAUSES], high[STALL_N_CAUSES];
	double explained; /* by the causes together */
	double unexplained,
		gain; /* stalls without a cause; less than at best: negative */
	double error; /* what may be chance, of either sign */
	uint64_t n_stalls, n_candidates; /* causes of all stalls */
	double candidates;		 /* the same, each by the cycles of the stall */
	/* Single ones that may be chance, which together are none: until it is settled.
	 */
	struct stall_chance {
		double rest;   /* that so many stalls take, less what others took less */
		double excess; /* what these took as they were */
		double high[STALL_N_CAUSES], explained;
	} chance;
	/* Functions of which it is guessed how often: until it is settled. */
	struct stall_guessed {
		uint64_t samples;
		double cycles;
		double best;		  /* as in the sum */
		double gain, chance;	  /* as in the sum, and its rest */
		double instructions_high; /* as in the sum */
		double best_high;	  /* what as many take at best */
	} guessed;
};

/* A function's; false: nothing of it can be told, as it was not counted. */
bool stall_sum_add(struct stall_sum *to, const struct function_code *c,
		   const struct stalls *s);
/* Once all are added: what is left of those that may be chance is an error, or too much
 * to be one; and all that is guessed together is no more than fits into its cycles. */
void stall_sum_settle(struct stall_sum *s);
void stall_sum_merge(struct stall_sum *to, const struct stall_sum *from);
/* All waits of the machine; all stalls that are not of the machine. */
double stall_sum_static(const struct stall_sum *s);
double stall_sum_dynamic(const struct stall_sum *s);

/* What a stall may have of each cause, in cycles each time. */
void stall_sum_ranges(const struct stall *s, double low[STALL_N_CAUSES],
		      double high[STALL_N_CAUSES]);

#endif
