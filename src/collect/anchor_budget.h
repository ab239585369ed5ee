/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_budget - what exact counts now and then may cost, and so when the next are due.
 *
 * A part of the CPU time of all that is counted, together.  The time in which that part
 * is as much as a window costs has one, at any moment of it with equal chance: so a
 * program that ends sooner has one as often as its time is a part of that, no moment of a
 * run has windows oftener than another, and many runs together cost what they may,
 * however short each is.  The next such time begins when all that was spent is within
 * the budget: a run costs no more than one window beyond it.
 */
#ifndef DWELL_COLLECT_ANCHOR_BUDGET_H
#define DWELL_COLLECT_ANCHOR_BUDGET_H

#include <stdint.h>

struct anchor_budget {
	double part;	   /* of the CPU time */
	uint64_t cpu_ns;   /* of all since they were first looked at */
	uint64_t spent_ns; /* of that, by what is not of the programs */
	uint64_t due_ns;   /* of cpu_ns: the next window */
	uint64_t random;   /* not 0 */
};

/* Nothing is spent yet, and nothing is due before it is planned. */
struct anchor_budget anchor_budget_of(double part);
/* From half of it to one and a half. */
uint64_t anchor_budget_chance(struct anchor_budget *b, double ns);
/* From nothing to that. */
uint64_t anchor_budget_draw(struct anchor_budget *b, uint64_t n);
/* Until the next look at what is counted at most, each of which costs so much: all
 * together they take a small part of the budget, unless the last process to come has so
 * short been there. */
uint64_t anchor_budget_look_ns(const struct anchor_budget *b, uint64_t cost_ns,
			       uint64_t age_ns);
/* A window that is to cost so much, of a part of the budget. */
void anchor_budget_plan(struct anchor_budget *b, uint64_t cost_ns, double part);

#endif
