/* SPDX-License-Identifier: Apache-2.0
 *
 * system_period - periods drawn around a mean, that make up for each other.
 *
 * What happens in step with a clock is not to be seen always or never, and yet samples
 * are to stand for the mean: who was sampled for a second only shall not be told 1 % too
 * much because of the few periods that were drawn meanwhile.  So each is on that side of
 * the mean which those before it owe.
 */
#ifndef DWELL_COLLECT_SYSTEM_PERIOD_H
#define DWELL_COLLECT_SYSTEM_PERIOD_H

#include <stdint.h>

struct system_period {
	uint64_t now; /* 0: the mean */
	int64_t owed; /* by which samples so far took longer than they stand for */
};

/* After n samples of the one that was drawn last: the next. */
uint64_t system_period_draw(struct system_period *p, uint64_t mean, uint64_t n,
			    uint64_t random);

#endif
