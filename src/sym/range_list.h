/* SPDX-License-Identifier: Apache-2.0
 *
 * range_list - the address ranges of an entry: .debug_ranges and .debug_rnglists.
 */
#ifndef DWELL_SYM_RANGE_LIST_H
#define DWELL_SYM_RANGE_LIST_H

#include "sym/form.h"

/* False ends the iteration. */
typedef bool range_list_fn(void *ctx, uint64_t start, uint64_t end);

/* Ranges that the linker discarded (below the code) and empty ones are left out. */
void range_list_each(const struct debug_unit *u, uint64_t value, bool is_index,
		     range_list_fn *fn, void *ctx);
/* One range under the same rules. */
bool range_list_one(const struct debug_unit *u, uint64_t start, uint64_t end,
		    range_list_fn *fn, void *ctx);

#endif
