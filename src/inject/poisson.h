/* SPDX-License-Identifier: Apache-2.0
 *
 * poisson - how far it is to the next point of a Poisson process.
 *
 * In whole numbers, as floating-point code would set the program's exception flags.
 */
#ifndef DWELL_INJECT_POISSON_H
#define DWELL_INJECT_POISSON_H

#include <stdint.h>

/* The state of a sequence of its own, never 0, from whatever differs. */
uint64_t poisson_seed(uint64_t a, uint64_t b);
/* Exponentially distributed, with the given mean below 2^48. */
uint64_t poisson_next(uint64_t *state, uint64_t mean);

#endif
