/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_table - (parent, location) to stack id: the recorder's innermost loop.
 *
 * The key lies in the slot, so that a lookup of a known node touches one cache line.
 * Zero-initialise, release with stack_table_fini().  Id 0 is the empty stack.
 */
#ifndef DWELL_STORE_STACK_TABLE_H
#define DWELL_STORE_STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/model.h"

struct stack_slot {
	struct model_stack node;
	uint32_t id; /* 0: free */
};

struct stack_table {
	struct stack_slot *slots;
	size_t cap;		       /* a power of two, or 0 */
	uint32_t n;		       /* nodes, the empty stack not counted */
	VEC(struct model_stack) fresh; /* added since stack_table_settle() */
};

void stack_table_fini(struct stack_table *t);
uint32_t stack_table_add(struct stack_table *t, uint32_t parent, uint32_t location);
/* Every node by its id, from 0 on, which is the empty stack's; the caller's to free. */
struct model_stack *stack_table_nodes(const struct stack_table *t);
/* The fresh nodes are written; the first one's id was n - fresh.n + 1. */
void stack_table_settle(struct stack_table *t);

#endif
