/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/address_space.h"

#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

struct address_space {
	unsigned refs;
	uint64_t version;
	VEC(struct unwind_map) maps; /* ascending, disjoint */
};

static uint64_t next_version(void)
{
	static uint64_t version;

	return ++version;
}

struct address_space *address_space_new(void)
{
	struct address_space *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->version = next_version();
	return s;
}

struct address_space *address_space_ref(struct address_space *s)
{
	s->refs++;
	return s;
}

void address_space_unref(struct address_space *s)
{
	if (!s || --s->refs)
		return;
	vec_fini(&s->maps);
	free(s);
}

struct address_space *address_space_writable(struct address_space *s)
{
	if (s->refs == 1)
		return s;

	struct address_space *copy = address_space_new();

	vec_reserve(&copy->maps, s->maps.n + 8);
	if (s->maps.n)
		memcpy(copy->maps.at, s->maps.at, s->maps.n * sizeof(*s->maps.at));
	copy->maps.n = s->maps.n;
	address_space_unref(s);
	return copy;
}

/* Index of the first mapping that ends above addr. */
static size_t first_ending_above(const struct address_space *s, uint64_t addr)
{
	return search_split(s->maps.n, i, s->maps.at[i].end <= addr);
}

/* Replace the mappings [from, to) by the n new ones. */
static void splice(struct address_space *s, size_t from, size_t to,
		   const struct unwind_map *maps, size_t n)
{
	size_t old = s->maps.n, tail = old - to;

	vec_reserve(&s->maps, from + n + tail);
	memmove(s->maps.at + from + n, s->maps.at + to, tail * sizeof(*s->maps.at));
	memcpy(s->maps.at + from, maps, n * sizeof(*maps));
	s->maps.n = from + n + tail;
}

void address_space_add(struct address_space *s, const struct unwind_map *map)
{
	if (map->start >= map->end)
		return;

	size_t from = first_ending_above(s, map->start), to = from;
	struct unwind_map pieces[3];
	size_t n = 0;

	while (to < s->maps.n && s->maps.at[to].start < map->end)
		to++;
	if (to > from && s->maps.at[from].start < map->start) {
		pieces[n] = s->maps.at[from];
		pieces[n++].end = map->start;
	}
	pieces[n++] = *map;
	if (to > from && s->maps.at[to - 1].end > map->end) {
		struct unwind_map right = s->maps.at[to - 1];

		right.file_offset += map->end - right.start;
		right.start = map->end;
		pieces[n++] = right;
	}
	splice(s, from, to, pieces, n);
	s->version = next_version();
}

struct unwind_map *address_space_find(struct address_space *s, uint64_t pc)
{
	size_t i = first_ending_above(s, pc);

	return i < s->maps.n && s->maps.at[i].start <= pc ? &s->maps.at[i] : NULL;
}

size_t address_space_count(const struct address_space *s)
{
	return s->maps.n;
}

const struct unwind_map *address_space_at(const struct address_space *s, size_t i)
{
	return &s->maps.at[i];
}

uint64_t address_space_version(const struct address_space *s)
{
	return s->version;
}
