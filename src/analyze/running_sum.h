/* SPDX-License-Identifier: Apache-2.0
 *
 * running_sum - finding which of many weights a number falls into.
 *
 * Made once of weights in a row: sums[i] is what those before i are together, one more
 * than there are weights.  Any part of the row can be searched.
 */
#ifndef DWELL_ANALYZE_RUNNING_SUM_H
#define DWELL_ANALYZE_RUNNING_SUM_H

#include <stddef.h>
#include <stdint.h>

/* What the weights from first up to end are together. */
static inline uint64_t running_sum_of(const uint64_t *sums, size_t first, size_t end)
{
	return sums[end] - sums[first];
}

/* The one that is reached when as much as at has been passed, from first on; at: below
 * their sum.  Quick where the first ones weigh most. */
size_t running_sum_find(const uint64_t *sums, size_t first, size_t end, uint64_t at);

#endif
