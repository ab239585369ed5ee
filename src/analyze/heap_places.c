/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/heap_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct pass {
	struct heap_places *to;
	const struct profile *profile;
	size_t column;
	struct map by_key; /* to the place */
	uint64_t nth;
};

size_t heap_places_column(const struct profile *p, const char *event)
{
	for (size_t i = 0; i < profile_n_columns(p); i++)
		if (strcmp(profile_column(p, i)->name, event) == 0)
			return i;
	return SIZE_MAX;
}

static uint64_t hash_text(const char *s)
{
	return s ? hash_bytes(s, strlen(s)) : 0;
}

uint64_t heap_places_key(const struct profile_frame *frames, size_t n)
{
	uint64_t key = n;

	for (size_t i = 0; i < n; i++) {
		const struct profile_frame *f = &frames[i];

		key = hash_pair(key, f->function);
		key = hash_pair(key, hash_text(f->file) + f->line * 2 + f->is_inlined);
	}
	return key;
}

static uint64_t key_of(const struct profile_stack *s)
{
	return heap_places_key(s->frames, s->n);
}

static int find(void *ctx, const struct profile_stack *s, struct err *e)
{
	struct pass *pass = ctx;
	uint64_t weight = s->weights[pass->column], nth = pass->nth++, key, *i;
	bool is_new;

	(void)e;
	if (!weight)
		return 0;
	key = key_of(s);
	i = map_slot(&pass->by_key, key, &is_new);
	if (is_new) {
		*i = pass->to->all.n;
		*vec_push(&pass->to->all) = (struct heap_place){ .nth = nth, .key = key };
	}
	pass->to->all.at[*i].weight += weight;
	pass->to->total += weight;
	return 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct heap_place *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

static void fill_frames(struct heap_place *place, const struct profile_stack *s)
{
	place->frames = xcalloc(s->n + 1, sizeof(*place->frames));
	place->n_frames = s->n;
	for (size_t i = 0; i < s->n; i++)
		place->frames[i] = s->frames[s->n - 1 - i];
}

static int fill(void *ctx, const struct profile_stack *s, struct err *e)
{
	struct pass *pass = ctx;
	size_t n_columns = profile_n_columns(pass->profile);
	const uint64_t *i =
		s->weights[pass->column] ? map_find(&pass->by_key, key_of(s)) : NULL;
	struct heap_place *place = i ? &pass->to->all.at[*i] : NULL;

	(void)e;
	if (!place)
		return 0;
	if (!place->frames) {
		fill_frames(place, s);
		place->values = xcalloc(n_columns, sizeof(*place->values));
	}
	for (size_t c = 0; c < n_columns; c++)
		place->values[c] += s->weights[c];
	return 0;
}

/* The largest, in their order. */
static void choose(struct pass *pass, size_t limit)
{
	struct heap_places *h = pass->to;

	h->n_found = h->all.n;
	if (h->all.n)
		qsort(h->all.at, h->all.n, sizeof(*h->all.at), by_weight);
	if (limit && h->all.n > limit)
		h->all.n = limit;
	map_clear(&pass->by_key);
	for (size_t i = 0; i < h->all.n; i++) {
		*map_slot(&pass->by_key, h->all.at[i].key, NULL) = i;
		h->shown += h->all.at[i].weight;
	}
}

int heap_places_load(struct heap_places *h, const struct profile *p, size_t column,
		     size_t limit, struct err *e)
{
	struct pass pass = { .to = h, .profile = p, .column = column };
	int rc = profile_each_stack(p, find, &pass, e);

	if (rc == 0) {
		choose(&pass, limit);
		rc = profile_each_stack(p, fill, &pass, e);
	}
	map_fini(&pass.by_key);
	return rc;
}

void heap_places_fini(struct heap_places *h)
{
	vec_each(x, &h->all) {
		free(x->values);
		free(x->frames);
	}
	vec_fini(&h->all);
}
