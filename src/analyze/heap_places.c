/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/heap_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct pass {
	struct heap_places *to;
	const struct profile *profile;
	size_t column;
	uint64_t nth;
	size_t next; /* of the places in the order of the profile's stacks */
};

size_t heap_places_column(const struct profile *p, const char *event)
{
	for (size_t i = 0; i < profile_n_columns(p); i++)
		if (strcmp(profile_column(p, i)->name, event) == 0)
			return i;
	return SIZE_MAX;
}

static int find(void *ctx, const struct profile_stack *s, struct err *e)
{
	struct pass *pass = ctx;
	uint64_t weight = s->weights[pass->column];

	(void)e;
	if (weight)
		*vec_push(&pass->to->all) =
			(struct heap_place){ .nth = pass->nth, .weight = weight };
	pass->to->total += weight;
	pass->nth++;
	return 0;
}

static int by_weight(const void *a, const void *b)
{
	const struct heap_place *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->nth > y->nth) - (x->nth < y->nth);
}

static int by_nth(const void *a, const void *b)
{
	const struct heap_place *x = a, *y = b;

	return (x->nth > y->nth) - (x->nth < y->nth);
}

/* What was chosen is in the order of the stacks meanwhile. */
static int fill(void *ctx, const struct profile_stack *s, struct err *e)
{
	struct pass *pass = ctx;
	struct heap_places *h = pass->to;
	size_t n_columns = profile_n_columns(pass->profile);
	struct heap_place *place;

	(void)e;
	if (pass->next == h->all.n || h->all.at[pass->next].nth != pass->nth++)
		return 0;
	place = &h->all.at[pass->next++];
	place->values = xcalloc(n_columns, sizeof(*place->values));
	memcpy(place->values, s->weights, n_columns * sizeof(*place->values));
	place->frames = xcalloc(s->n + 1, sizeof(*place->frames));
	place->n_frames = s->n;
	for (size_t i = 0; i < s->n; i++)
		place->frames[i] = s->frames[s->n - 1 - i];
	h->shown += place->weight;
	return 0;
}

static void sort(struct heap_places *h, int (*order)(const void *a, const void *b))
{
	if (h->all.n)
		qsort(h->all.at, h->all.n, sizeof(*h->all.at), order);
}

int heap_places_load(struct heap_places *h, const struct profile *p, size_t column,
		     size_t limit, struct err *e)
{
	struct pass pass = { .to = h, .profile = p, .column = column };
	int rc = profile_each_stack(p, find, &pass, e);

	if (rc < 0)
		return rc;
	h->n_found = h->all.n;
	sort(h, by_weight);
	if (limit && h->all.n > limit)
		h->all.n = limit;
	sort(h, by_nth);
	pass.nth = 0;
	rc = profile_each_stack(p, fill, &pass, e);
	sort(h, by_weight);
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
