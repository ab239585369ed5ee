/* SPDX-License-Identifier: Apache-2.0
 *
 * system_rate - by which period an event gives so many samples a second.
 */
#ifndef DWELL_COLLECT_SYSTEM_RATE_H
#define DWELL_COLLECT_SYSTEM_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* The next, no shorter than least, where that much is counted a second.  It falls to a
 * half at most: what was quiet for a moment may come back. */
uint64_t system_rate_period(uint64_t period, uint64_t least, uint64_t hz,
			    double per_second);
/* Are so many samples in that time too many to wait until it is looked at again? */
bool system_rate_is_exceeded(uint64_t hz, uint64_t n_samples, uint64_t ns);

#endif
