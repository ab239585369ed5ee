/* SPDX-License-Identifier: Apache-2.0
 *
 * frequency_bound - no oftener than a machine can: where a function's estimated ranges
 * end.
 */
#ifndef DWELL_ANALYZE_FREQUENCY_BOUND_H
#define DWELL_ANALYZE_FREQUENCY_BOUND_H

struct function_code;

/* Of estimates that are guesses: not so often that the best case would take longer than
 * was sampled, and somewhat more, as models and samples are off. */
void frequency_bound(struct function_code *c, double cycles_of_sample);

#endif
