/* SPDX-License-Identifier: Apache-2.0 */
#include "store/location_table.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

#define FIRST_CAP 1024

#define NEIGHBOURS_BYTES 64
#define INSN_BYTES	 4 /* in the mean */

void location_table_fini(struct location_table *t)
{
	vec_fini(&t->all);
	free(t->slots);
	*t = (struct location_table){ 0 };
}

/* Neighbours in code are neighbours here: where many are asked for, as of exact counts,
 * it is in the order of their addresses, and a line of the cache has the next ones. */
static size_t home_of(const struct model_location *l)
{
	return hash_pair((uint64_t)l->image << 32 | l->flags,
			 l->offset / NEIGHBOURS_BYTES) *
		       (NEIGHBOURS_BYTES / INSN_BYTES) +
	       l->offset % NEIGHBOURS_BYTES / INSN_BYTES;
}

static uint32_t *probe(const struct location_table *t, const struct model_location *l)
{
	size_t mask = t->cap - 1;
	size_t i = home_of(l) & mask;

	for (;; i = (i + 1) & mask) {
		uint32_t *slot = &t->slots[i];

		if (!*slot)
			return slot;

		const struct model_location *seen = &t->all.at[*slot - 1];

		if (seen->offset == l->offset && seen->image == l->image &&
		    seen->flags == l->flags)
			return slot;
	}
}

static void grow(struct location_table *t)
{
	t->cap = t->cap ? t->cap * 2 : FIRST_CAP;
	free(t->slots);
	t->slots = xcalloc(t->cap, sizeof(*t->slots));
	for (size_t i = 0; i < t->all.n; i++)
		*probe(t, &t->all.at[i]) = (uint32_t)i + 1;
}

uint32_t location_table_add(struct location_table *t, const struct model_location *l)
{
	if (t->all.n * 2 >= t->cap)
		grow(t);

	uint32_t *slot = probe(t, l);

	if (!*slot) {
		*vec_push(&t->all) = *l;
		*slot = (uint32_t)t->all.n;
	}
	return *slot - 1;
}

void location_table_settle(struct location_table *t)
{
	t->n_settled = t->all.n;
}
