/* SPDX-License-Identifier: Apache-2.0
 *
 * power_steps - how many of something there are of each size, by powers of two.
 *
 * Step 0 is of nothing, step i of 2^(i-1) up to below 2^i.
 */
#ifndef DWELL_ANALYZE_POWER_STEPS_H
#define DWELL_ANALYZE_POWER_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#define POWER_STEPS 64

struct power_steps {
	uint64_t n[POWER_STEPS], sum;
};

/* Adds what a label tells of, as "[from 4096 bytes]"; others tell of nothing. */
void power_steps_add(struct power_steps *s, const char *label, uint64_t n);
uint64_t power_steps_least(unsigned step);
/* The first step that has something, and the first beyond all that have; both 0: none. */
unsigned power_steps_first(const struct power_steps *s);
unsigned power_steps_end(const struct power_steps *s);
/* What all are below; 0: there is none. */
uint64_t power_steps_below(const struct power_steps *s);

#endif
