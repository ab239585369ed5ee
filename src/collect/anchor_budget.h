/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_budget - what exact counts now and then may cost, and so when the next are due.
 *
 * A part of the CPU time of all that is counted, together; at times that are chosen by
 * chance.
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

/* From half of it to one and a half. */
uint64_t anchor_budget_chance(struct anchor_budget *b, double ns);
/* From nothing to that. */
uint64_t anchor_budget_draw(struct anchor_budget *b, uint64_t n);
/* A window that costs so much, of a part of the budget; never before all that was spent,
 * and this as well, is within it. */
void anchor_budget_plan(struct anchor_budget *b, uint64_t cost_ns, double part);

#endif
