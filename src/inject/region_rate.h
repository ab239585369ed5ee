/* SPDX-License-Identifier: Apache-2.0
 *
 * region_rate - how long the units of a clock of regions take.
 *
 * In whole numbers, as floating-point code would set the program's exception flags.
 */
#ifndef DWELL_INJECT_REGION_RATE_H
#define DWELL_INJECT_REGION_RATE_H

#include <stdint.h>

struct region_rate {
	uint32_t ns, units; /* so many nanoseconds in so many units */
};

/* As it was meanwhile, to some 30 bits; where nothing has passed a unit is a nanosecond.
 */
struct region_rate region_rate_of(uint64_t ns, uint64_t units);
uint64_t region_rate_ns(struct region_rate r, uint64_t units);
uint64_t region_rate_units(struct region_rate r, uint64_t ns);

#endif
