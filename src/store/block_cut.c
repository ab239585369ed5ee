/* SPDX-License-Identifier: Apache-2.0 */
#include "store/block_cut.h"

#define SMALL_ROWS 512

size_t block_cut(const uint32_t *images, size_t n)
{
	size_t end = 0;

	n = n < BLOCK_CUT_MAX ? n : BLOCK_CUT_MAX;
	while (end < n) {
		size_t next = end + 1;

		while (next < n && images[next] == images[end])
			next++;
		if (end && next > SMALL_ROWS)
			break; /* a large one begins its own */
		end = next;
		if (end >= SMALL_ROWS)
			break;
	}
	return end;
}
