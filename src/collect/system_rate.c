/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_rate.h"

/* Setting a period begins it anew: within these bounds it stays. */
#define STAYS_ABOVE 0.8
#define STAYS_BELOW 1.25
/* So many times the rate, unless there are few. */
#define TOO_MANY 4
#define FEW	 64

uint64_t system_rate_period(uint64_t period, uint64_t least, uint64_t hz,
			    double per_second)
{
	double now = (double)period, want = per_second / (double)hz;

	if (per_second <= 0 || (want >= STAYS_ABOVE * now && want <= STAYS_BELOW * now))
		return period;
	if (want < now / 2)
		want = now / 2;
	return want > (double)least ? (uint64_t)want : least;
}

bool system_rate_is_exceeded(uint64_t hz, uint64_t n_samples, uint64_t ns)
{
	return n_samples > FEW &&
	       (double)n_samples > TOO_MANY * (double)hz * (double)ns / 1e9;
}
