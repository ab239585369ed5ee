/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_budget.h"

/* Up to 1, which it is not. */
static double draw(struct anchor_budget *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return (double)(b->random >> 11) * 0x1p-53;
}

uint64_t anchor_budget_chance(struct anchor_budget *b, double ns)
{
	return (uint64_t)(ns * (0.5 + draw(b)));
}

uint64_t anchor_budget_draw(struct anchor_budget *b, uint64_t n)
{
	return (uint64_t)((double)n * draw(b));
}

void anchor_budget_plan(struct anchor_budget *b, uint64_t cost_ns, double part)
{
	double all_ns = (double)(b->spent_ns + cost_ns);
	uint64_t due_ns = b->cpu_ns +
			  anchor_budget_chance(b, (double)cost_ns / (b->part * part)),
		 least_ns = (uint64_t)(all_ns / b->part);

	b->due_ns = due_ns > least_ns ? due_ns : least_ns;
}
