/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CHUNK_BYTES (64u << 10)

struct arena_chunk {
	struct arena_chunk *next;
	char data[];
};

void arena_fini(struct arena *a)
{
	struct arena_chunk *next;

	for (struct arena_chunk *c = a->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	*a = (struct arena){ 0 };
}

void *arena_alloc(struct arena *a, size_t size)
{
	size = (size + 7) & ~(size_t)7;
	if (size > (size_t)(a->end - a->at)) {
		size_t want = size > CHUNK_BYTES ? size : CHUNK_BYTES;
		struct arena_chunk *c = xcalloc(1, sizeof(*c) + want);

		c->next = a->chunks;
		a->chunks = c;
		a->at = c->data;
		a->end = c->data + want;
		a->total_bytes += want;
	}
	a->at += size;
	return a->at - size;
}

void *arena_memdup(struct arena *a, const void *p, size_t size)
{
	void *copy = arena_alloc(a, size);

	if (size)
		memcpy(copy, p, size);
	return copy;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = arena_alloc(a, len + 1);

	memcpy(copy, s, len);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_memdup(a, s, strlen(s) + 1);
}
