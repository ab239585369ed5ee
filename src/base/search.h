/* SPDX-License-Identifier: Apache-2.0
 *
 * search - where in things that are in order something is, by halves.
 */
#ifndef DWELL_BASE_SEARCH_H
#define DWELL_BASE_SEARCH_H

#include <stddef.h>

/* How many of n come first for which it holds: an expression with the index i, which
 * holds for none behind the first for which it does not.
 *
 *	size_t at = search_split(t->n, i, t->rows[i].address < address);
 */
#define search_split(n, i, holds)                                                        \
	({                                                                               \
		size_t low_ = 0, high_ = (n);                                            \
                                                                                         \
		while (low_ < high_) {                                                   \
			size_t i = low_ + (high_ - low_) / 2;                            \
                                                                                         \
			if (holds)                                                       \
				low_ = i + 1;                                            \
			else                                                             \
				high_ = i;                                               \
		}                                                                        \
		low_;                                                                    \
	})

#endif
