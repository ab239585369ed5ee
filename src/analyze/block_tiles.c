/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/block_tiles.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/own.h"

/* Holds the sum of as many spans as memory does. */
__extension__ typedef unsigned __int128 wide;

/* Where a span begins or ends. */
struct cut {
	uint64_t at, times;
	bool is_end;
};

struct cuts {
	VEC(struct cut) all;
};

static void cuts_fini(struct cuts *c)
{
	vec_fini(&c->all);
}

static int by_address(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void find_cuts(struct cuts *c, const struct block_span *spans, size_t n,
		      uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < n; i++) {
		const struct block_span *s = &spans[i];
		uint64_t start = s->start > from ? s->start : from;
		uint64_t end = s->end < to ? s->end : to;

		if (start >= end)
			continue;
		*vec_push(&c->all) = (struct cut){ start, s->times, false };
		*vec_push(&c->all) = (struct cut){ end, s->times, true };
	}
	if (c->all.n)
		qsort(c->all.at, c->all.n, sizeof(*c->all.at), by_address);
}

void block_tiles_make(struct block_tiles *ret, const struct block_span *spans, size_t n,
		      uint64_t from, uint64_t to)
{
	own(cuts_fini) struct cuts cuts = { 0 };
	struct block_tile *last;
	wide sum = 0;

	*ret = (struct block_tiles){ 0 };
	if (from >= to)
		return;
	last = vec_push(&ret->all);
	last->start = from;
	find_cuts(&cuts, spans, n, from, to);
	vec_each(cut, &cuts.all) {
		if (cut->at == to)
			break;
		if (cut->at > last->start) {
			last = vec_push(&ret->all);
			last->start = cut->at;
		}
		/* At one address an end may come before a beginning, never before its
		 * own. */
		sum = cut->is_end ? sum - cut->times : sum + cut->times;
		last->times = sum < UINT64_MAX ? (uint64_t)sum : UINT64_MAX;
	}
}

void block_tiles_fini(struct block_tiles *t)
{
	vec_fini(&t->all);
}
