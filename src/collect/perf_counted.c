/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_counted.h"

static uint64_t key_of(uint64_t id, uint32_t tid)
{
	return hash_pair(id, tid);
}

void perf_counted_fini(struct perf_counted *c)
{
	map_fini(&c->before);
}

uint64_t perf_counted_since(struct perf_counted *c, uint64_t id, uint32_t tid,
			    uint64_t now)
{
	uint64_t *before = map_slot(&c->before, key_of(id, tid), NULL);
	/* Less: another's, whose predecessor's end was not told. */
	uint64_t since = now >= *before ? now - *before : now;

	*before = now;
	return since;
}

void perf_counted_exit(struct perf_counted *c, const struct map *ids, uint32_t tid)
{
	if (!c->before.n)
		return;
	for (size_t i = 0; i < ids->cap; i++)
		if (ids->at[i].used)
			map_remove(&c->before, key_of(ids->at[i].key, tid));
}
