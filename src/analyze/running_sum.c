/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/running_sum.h"

size_t running_sum_find(const uint64_t *sums, size_t first, size_t end, uint64_t at)
{
	size_t from = first, step = 1;

	while (end - from > step && sums[from + step] - sums[first] <= at) {
		from += step;
		step *= 2;
	}
	if (end - from > step)
		end = from + step;
	while (end - from > 1) {
		size_t middle = from + (end - from) / 2;

		if (sums[middle] - sums[first] <= at)
			from = middle;
		else
			end = middle;
	}
	return from;
}
