/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void map_fini(struct map *m)
{
	free(m->at);
	*m = (struct map){ 0 };
}

void map_clear(struct map *m)
{
	if (m->at)
		memset(m->at, 0, m->cap * sizeof(*m->at));
	m->n = 0;
}

static struct map_entry *probe(const struct map *m, uint64_t key)
{
	size_t mask = m->cap - 1;
	size_t i = hash_u64(key) & mask;

	while (m->at[i].used && m->at[i].key != key)
		i = (i + 1) & mask;
	return &m->at[i];
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
	if (!m->cap)
		return NULL;

	struct map_entry *e = probe(m, key);

	return e->used ? &e->value : NULL;
}

/* Another one would be too many. */
static bool is_full(size_t n, size_t cap)
{
	return n * 4 >= cap * 3;
}

static void grow_to(struct map *m, size_t cap)
{
	struct map bigger = { .cap = cap, .n = m->n };

	bigger.at = xcalloc(bigger.cap, sizeof(*bigger.at));
	for (size_t i = 0; i < m->cap; i++)
		if (m->at[i].used)
			*probe(&bigger, m->at[i].key) = m->at[i];
	free(m->at);
	*m = bigger;
}

static size_t next_cap(size_t cap)
{
	return cap ? cap * 2 : 16;
}

void map_reserve(struct map *m, size_t n)
{
	size_t cap = m->cap;

	while (n && is_full(n - 1, cap))
		cap = next_cap(cap);
	if (cap > m->cap)
		grow_to(m, cap);
}

uint64_t *map_slot(struct map *m, uint64_t key, bool *is_new)
{
	if (is_full(m->n, m->cap))
		grow_to(m, next_cap(m->cap));

	struct map_entry *e = probe(m, key);

	if (is_new)
		*is_new = !e->used;
	if (!e->used) {
		*e = (struct map_entry){ .key = key, .used = true };
		m->n++;
	}
	return &e->value;
}

/* Backward-shift deletion: no tombstones, so probing stays short for ever. */
bool map_remove(struct map *m, uint64_t key)
{
	if (!m->cap)
		return false;

	struct map_entry *e = probe(m, key);

	if (!e->used)
		return false;

	size_t mask = m->cap - 1;
	size_t hole = (size_t)(e - m->at);

	for (size_t i = (hole + 1) & mask; m->at[i].used; i = (i + 1) & mask) {
		size_t home = hash_u64(m->at[i].key) & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			m->at[hole] = m->at[i];
			hole = i;
		}
	}
	m->at[hole].used = false;
	m->n--;
	return true;
}

uint64_t hash_bytes(const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t h = size * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = hash_pair(h, word);
	}
	word = 0;
	memcpy(&word, p, size);
	return hash_pair(h, word);
}
