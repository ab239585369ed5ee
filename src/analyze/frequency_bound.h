/* SPDX-License-Identifier: Apache-2.0
 *
 * frequency_bound - no oftener than a machine can: where a function's estimated ranges
 * end.
 */
#ifndef DWELL_ANALYZE_FREQUENCY_BOUND_H
#define DWELL_ANALYZE_FREQUENCY_BOUND_H

#include <stdint.h>

struct function_code;

/* Of estimates that are guesses: not so often that the best case would take longer than
 * was sampled, and somewhat more, as models and samples are off. */
void frequency_bound(struct function_code *c, double cycles_of_sample);
/* How many cycles the best case of so many sampled ones may be, then. */
double frequency_bound_most(double cycles, uint64_t samples, double cycles_of_sample);

#endif
