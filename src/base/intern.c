/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

struct text {
	const char *s;
	uint32_t len;
	uint32_t hash;
};

struct intern {
	struct arena bytes;
	VEC(struct text) texts;
	uint32_t *slots; /* id + 1, 0 when free */
	size_t cap;
};

struct intern *intern_new(void)
{
	struct intern *in = xcalloc(1, sizeof(*in));

	intern_add(in, "", 0);
	return in;
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	arena_fini(&in->bytes);
	vec_fini(&in->texts);
	free(in->slots);
	free(in);
}

void intern_freep(struct intern **in)
{
	intern_free(*in);
}

static uint32_t *probe(const struct intern *in, const char *s, size_t n, uint32_t hash)
{
	size_t mask = in->cap - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		if (!in->slots[i])
			return &in->slots[i];

		const struct text *t = &in->texts.at[in->slots[i] - 1];

		if (t->hash == hash && t->len == n && memcmp(t->s, s, n) == 0)
			return &in->slots[i];
	}
}

static void grow(struct intern *in)
{
	size_t old = in->cap;
	uint32_t *was = in->slots;

	in->cap = old ? old * 2 : 64;
	in->slots = xcalloc(in->cap, sizeof(*in->slots));
	for (size_t i = 0; i < old; i++) {
		if (!was[i])
			continue;

		const struct text *t = &in->texts.at[was[i] - 1];

		*probe(in, t->s, t->len, t->hash) = was[i];
	}
	free(was);
}

uint32_t intern_add(struct intern *in, const char *s, size_t n)
{
	uint32_t hash = (uint32_t)hash_bytes(s, n);

	if (in->texts.n * 2 >= in->cap)
		grow(in);

	uint32_t *slot = probe(in, s, n, hash);

	if (!*slot) {
		char *copy = arena_alloc(&in->bytes, n + 1);

		memcpy(copy, s, n);
		*vec_push(&in->texts) = (struct text){ copy, (uint32_t)n, hash };
		*slot = (uint32_t)in->texts.n;
	}
	return *slot - 1;
}

uint32_t intern_str(struct intern *in, const char *s)
{
	return s ? intern_add(in, s, strlen(s)) : 0;
}

uint32_t intern_find(const struct intern *in, const char *s, size_t n)
{
	uint32_t *slot = probe(in, s, n, (uint32_t)hash_bytes(s, n));

	return *slot ? *slot - 1 : UINT32_MAX;
}

const char *intern_get(const struct intern *in, uint32_t id)
{
	return id < in->texts.n ? in->texts.at[id].s : "";
}

size_t intern_len(const struct intern *in, uint32_t id)
{
	return id < in->texts.n ? in->texts.at[id].len : 0;
}

uint32_t intern_count(const struct intern *in)
{
	return (uint32_t)in->texts.n;
}

size_t intern_bytes(const struct intern *in)
{
	return in->bytes.total_bytes + in->texts.cap * sizeof(*in->texts.at) +
	       in->cap * sizeof(*in->slots);
}
