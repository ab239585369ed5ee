/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stack_table.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

#define FIRST_CAP 1024

void stack_table_fini(struct stack_table *t)
{
	free(t->slots);
	vec_fini(&t->fresh);
	*t = (struct stack_table){ 0 };
}

static struct stack_slot *probe(const struct stack_table *t, uint32_t parent,
				uint32_t location)
{
	size_t mask = t->cap - 1;
	size_t i = hash_u64((uint64_t)parent << 32 | location) & mask;

	for (;; i = (i + 1) & mask) {
		struct stack_slot *s = &t->slots[i];

		if (!s->id || (s->node.location == location && s->node.parent == parent))
			return s;
	}
}

static void grow(struct stack_table *t)
{
	struct stack_table bigger = { .cap = t->cap ? t->cap * 2 : FIRST_CAP };

	bigger.slots = xcalloc(bigger.cap, sizeof(*bigger.slots));
	for (size_t i = 0; i < t->cap; i++) {
		const struct stack_slot *s = &t->slots[i];

		if (s->id)
			*probe(&bigger, s->node.parent, s->node.location) = *s;
	}
	free(t->slots);
	t->slots = bigger.slots;
	t->cap = bigger.cap;
}

static uint32_t insert(struct stack_table *t, uint32_t parent, uint32_t location)
{
	if ((t->n + UINT64_C(1)) * 8 > t->cap * 5)
		grow(t);

	struct stack_slot *s = probe(t, parent, location);

	*s = (struct stack_slot){ { parent, location }, ++t->n };
	*vec_push(&t->fresh) = s->node;
	return s->id;
}

uint32_t stack_table_add(struct stack_table *t, uint32_t parent, uint32_t location)
{
	if (t->cap) {
		const struct stack_slot *s = probe(t, parent, location);

		if (s->id)
			return s->id;
	}
	return insert(t, parent, location);
}

void stack_table_settle(struct stack_table *t)
{
	vec_clear(&t->fresh);
}

struct model_stack *stack_table_nodes(const struct stack_table *t)
{
	struct model_stack *nodes = xcalloc((size_t)t->n + 1, sizeof(*nodes));

	for (size_t i = 0; i < t->cap; i++)
		nodes[t->slots[i].id] = t->slots[i].node;
	nodes[0] = (struct model_stack){ 0 };
	return nodes;
}
