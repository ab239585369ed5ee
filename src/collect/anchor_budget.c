/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_budget.h"

#include <math.h>
#include <sys/random.h>

#include "host/clock.h"

#define LOOKS_PART     0.05
#define LOOKS_LEAST_NS 20000000u
#define LOOKS_MOST_NS  100000000u
/* What came so lately may execute another program, or end, as soon. */
#define YOUNG_NS 1000000000u

/* Where there is no chance to be had from the system, the time has to do. */
static uint64_t seed(void)
{
	uint64_t ret;

	if (getrandom(&ret, sizeof(ret), 0) != sizeof(ret))
		ret = clock_monotonic_ns();
	return ret ? ret : 1;
}

struct anchor_budget anchor_budget_of(double part)
{
	return (struct anchor_budget){ .part = part, .random = seed() };
}

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

uint64_t anchor_budget_look_ns(const struct anchor_budget *b, uint64_t cost_ns,
			       uint64_t age_ns)
{
	double ns = (double)cost_ns / (b->part * LOOKS_PART);

	if (age_ns < YOUNG_NS)
		return LOOKS_LEAST_NS;
	return (uint64_t)fmin(fmax(ns, LOOKS_LEAST_NS), LOOKS_MOST_NS);
}

void anchor_budget_plan(struct anchor_budget *b, uint64_t cost_ns, double part)
{
	uint64_t begin_ns = (uint64_t)((double)b->spent_ns / b->part),
		 length_ns = (uint64_t)((double)cost_ns / (b->part * part));

	begin_ns = begin_ns > b->cpu_ns ? begin_ns : b->cpu_ns;
	b->due_ns = begin_ns + anchor_budget_draw(b, length_ns);
}
