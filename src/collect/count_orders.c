/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_orders.h"

#include <inttypes.h>
#include <stdio.h>

#define PLACE_BYTES (3 * 17)

_Static_assert(2 + COUNT_ORDERS_UNDER_MAX * PLACE_BYTES < COUNT_FLAGS_MAX,
	       "all of them have room");

void count_orders_make(const struct scope *scope, char ret[COUNT_FLAGS_MAX])
{
	size_t n = scope->n_under;

	*ret++ = COUNT_FLAG_NONE;
	*ret = 0;
	for (size_t i = 0; i < n && i < COUNT_ORDERS_UNDER_MAX; i++) {
		const struct code_place *p = &scope->under[i];

		ret += snprintf(
			ret, PLACE_BYTES + 1, "%c%" PRIx64 ".%" PRIx64 ".%" PRIx64,
			i ? ',' : COUNT_FLAGS_FUNCTIONS, p->device, p->inode, p->offset);
	}
}
