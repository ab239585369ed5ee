/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_speed.h"

#include <math.h>
#include <string.h>

/* Before anything is told: of what is translated already, and no less than programs
 * have it, as what is not known to be native is paid for. */
#define SLOWDOWN     1.6
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

uint64_t anchor_speed_take(struct anchor_speed *s, double counted_ns, double n_insns)
{
	uint64_t native_ns = anchor_speed_native_ns(s, counted_ns, n_insns);

	if (s->n_insns <= 0) {
		s->supposed.n_insns += n_insns;
		s->supposed.counted_ns += counted_ns;
		s->supposed.native_ns += (double)native_ns;
	}
	return native_ns;
}

double anchor_speed_mend(struct anchor_speed *s)
{
	double was_ns = s->supposed.native_ns, is_ns;

	if (s->n_insns <= 0)
		return 0;
	is_ns = (double)anchor_speed_native_ns(s, s->supposed.counted_ns,
					       s->supposed.n_insns);
	memset(&s->supposed, 0, sizeof(s->supposed));
	return is_ns - was_ns;
}
