/* SPDX-License-Identifier: Apache-2.0
 *
 * count_lists - numbers by a number: which belong to each of n keys, all in one array.
 *
 * Gathered first, then put in order at once.  What is at a key is in the order in which
 * it was added.
 */
#ifndef DWELL_COLLECT_COUNT_LISTS_H
#define DWELL_COLLECT_COUNT_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct count_lists_item {
	uint32_t key, value;
};

struct count_lists {
	VEC(struct count_lists_item) added;
	uint32_t *begins; /* by key, and the end of all */
	uint32_t *values;
	size_t n_keys;
};

void count_lists_fini(struct count_lists *l);

void count_lists_add(struct count_lists *l, uint32_t key, uint32_t value);
/* Nothing is added any more.  Keys that are not below n_keys are left out. */
void count_lists_order(struct count_lists *l, size_t n_keys);

/* Those of a key: none where it has none. */
const uint32_t *count_lists_of(const struct count_lists *l, uint32_t key, size_t *ret_n);

#endif
