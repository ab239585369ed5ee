/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/port_plan.h"

static uint64_t *busy_at(struct port_plan *plan, unsigned port, uint64_t cycle)
{
	uint64_t number = cycle / 64;
	struct port_plan_word *p = &plan->words[number % PORT_PLAN_WORDS];

	if (p->number[port] < number) {
		p->number[port] = number;
		p->busy[port] = 0;
	}
	/* Longer ago than is kept: as if nothing had been. */
	return p->number[port] == number ? &p->busy[port] : NULL;
}

static uint64_t first_free(struct port_plan *plan, unsigned port, uint64_t cycle)
{
	for (;;) {
		const uint64_t *busy = busy_at(plan, port, cycle);
		uint64_t free = busy ? ~(*busy >> cycle % 64) : ~0ull;
		unsigned left = 64 - cycle % 64;
		unsigned n = free ? (unsigned)__builtin_ctzll(free) : 64;

		if (n < left)
			return cycle + n;
		cycle += left;
	}
}

static void occupy(struct port_plan *plan, unsigned port, uint64_t cycle, unsigned n)
{
	plan->n_taken[port] += n;
	for (; n; n--, cycle++) {
		uint64_t *busy = busy_at(plan, port, cycle);

		if (busy)
			*busy |= 1ull << cycle % 64;
	}
}

/* Of these ports, the one that had least to do of those that are free then; the number of
 * ports: none is. */
static unsigned idle_port(const struct port_plan *plan, uint32_t ports, uint64_t cycle)
{
	uint64_t number = cycle / 64, bit = 1ull << cycle % 64;
	const struct port_plan_word *p = &plan->words[number % PORT_PLAN_WORDS];
	unsigned best = MACHINE_MODEL_MAX_PORTS;

	for (; ports; ports &= ports - 1) {
		unsigned port = (unsigned)__builtin_ctz(ports);

		if (p->number[port] == number && p->busy[port] & bit)
			continue;
		if (best == MACHINE_MODEL_MAX_PORTS ||
		    plan->n_taken[port] < plan->n_taken[best])
			best = port;
	}
	return best;
}

/* The one that is free first, of several the one that had least to do. */
static unsigned first_port(struct port_plan *plan, uint32_t ports, uint64_t cycle,
			   uint64_t *ret_first)
{
	unsigned best = 0;

	*ret_first = UINT64_MAX;
	for (; ports; ports &= ports - 1) {
		unsigned p = (unsigned)__builtin_ctz(ports);
		uint64_t at = first_free(plan, p, cycle);

		if (at < *ret_first ||
		    (at == *ret_first && plan->n_taken[p] < plan->n_taken[best])) {
			*ret_first = at;
			best = p;
		}
	}
	return best;
}

uint64_t port_plan_take(struct port_plan *plan, uint32_t ports, uint64_t cycle,
			unsigned n)
{
	uint64_t first = cycle;
	unsigned best = idle_port(plan, ports, cycle); /* mostly there is one */

	if (best == MACHINE_MODEL_MAX_PORTS)
		best = first_port(plan, ports, cycle, &first);
	occupy(plan, best, first, n);
	return first;
}
