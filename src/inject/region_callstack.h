/* SPDX-License-Identifier: Apache-2.0
 *
 * region_callstack - the performance callstack for the program itself (include/dwell.h).
 *
 * Of a tree whose time has passed until now.
 */
#ifndef DWELL_INJECT_REGION_CALLSTACK_H
#define DWELL_INJECT_REGION_CALLSTACK_H

#include <stddef.h>

#include "inject/region_tree.h"

struct dwell_block;

/* Returns how many are active; the first max of them are in ret. */
size_t region_callstack_fetch(const struct region_tree *t, struct dwell_block *ret,
			      size_t max);
/* A table, in lines that are each written at once. */
void region_callstack_print(const struct region_tree *t, int fd);

#endif
