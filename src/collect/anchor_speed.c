/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_speed.h"

#include <math.h>

/* Before anything is told: of what is translated already. */
#define SLOWDOWN     2.0
#define INSN_MOST_NS 1.0 /* of programs that do not wait for memory all of the time */

void anchor_speed_add(struct anchor_speed *s, double n_insns, double native_ns)
{
	s->n_insns += n_insns;
	s->native_ns += native_ns;
}

/* Of a window that meets new code most is translation, and little is executed. */
static double guess(double counted_ns, double n_insns)
{
	return fmin(counted_ns / SLOWDOWN, n_insns * INSN_MOST_NS);
}

uint64_t anchor_speed_native_ns(const struct anchor_speed *s, double counted_ns,
				double n_insns)
{
	if (s->n_insns <= 0)
		return (uint64_t)guess(counted_ns, n_insns);
	return (uint64_t)fmin(counted_ns, n_insns * s->native_ns / s->n_insns);
}
