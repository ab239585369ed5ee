/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/sampled_set.h"

_Static_assert(SAMPLED_SET_BUCKETS == 1 << (32 - 20), "as sampled_set_bucket has it");

static bool replace(uint64_t *slot, uint64_t old, uint64_t v)
{
	return __atomic_compare_exchange_n(slot, &old, v, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

static void change(uint8_t *n, int by)
{
	uint8_t was = __atomic_load_n(n, __ATOMIC_RELAXED);

	while (was != SAMPLED_SET_FULL &&
	       !__atomic_compare_exchange_n(n, &was, (uint8_t)(was + by), false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void sampled_set_add(struct sampled_set *s, const void *p)
{
	unsigned bucket = sampled_set_bucket(p);

	/* Counted first: whoever sees 0 need not look. */
	change(&s->n[bucket], 1);
	for (int i = 0; i < SAMPLED_SET_SLOTS; i++)
		if (replace(&s->at[bucket][i], 0, (uintptr_t)p))
			return;
	__atomic_store_n(&s->n[bucket], SAMPLED_SET_FULL, __ATOMIC_RELAXED);
}

bool sampled_set_find(struct sampled_set *s, unsigned bucket, const void *p)
{
	for (int i = 0; i < SAMPLED_SET_SLOTS; i++) {
		uint64_t *slot = &s->at[bucket][i];

		/* Mostly it is none, and looking is cheaper than trying. */
		if (__atomic_load_n(slot, __ATOMIC_RELAXED) != (uintptr_t)p ||
		    !replace(slot, (uintptr_t)p, 0))
			continue;
		change(&s->n[bucket], -1);
		return true;
	}
	return __atomic_load_n(&s->n[bucket], __ATOMIC_RELAXED) == SAMPLED_SET_FULL;
}
