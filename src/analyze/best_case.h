/* SPDX-License-Identifier: Apache-2.0
 *
 * best_case - what each instruction of a function takes on its machine if nothing is
 * missing: the mean over paths that lead to it, each as likely as it was taken.
 */
#ifndef DWELL_ANALYZE_BEST_CASE_H
#define DWELL_ANALYZE_BEST_CASE_H

#include <stdbool.h>

struct function_code;

/* By what is known by now of how often its ways were taken; of its model.  A draft is
 * made in a fraction of the time, for what will tell how often. */
void best_case_schedule(struct function_code *c, bool is_draft);

#endif
