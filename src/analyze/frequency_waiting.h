/* SPDX-License-Identifier: Apache-2.0
 *
 * frequency_waiting - is a function little more than one load that may wait for memory?
 *
 * Guesses of how often are of what does not wait: where that is so little, and nothing of
 * the time is its own, they take the wait for the work.
 */
#ifndef DWELL_ANALYZE_FREQUENCY_WAITING_H
#define DWELL_ANALYZE_FREQUENCY_WAITING_H

struct function_code;

/* The fewest times that it can have been, in units of the blocks' times that are given:
 * as if each were as long a miss as there is.  0: it is no such function. */
double frequency_waiting_least(const struct function_code *c, const double *of_block);

#endif
