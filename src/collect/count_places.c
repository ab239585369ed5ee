/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_places.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "collect/count_flow.h"
#include "collect/count_ways.h"

void count_places_make(struct count_places *p, size_t n_blocks, size_t n_pairs,
		       size_t n_extras)
{
	*p = (struct count_places){
		.blocks = xcalloc(n_blocks + 1, sizeof(*p->blocks)),
		.pairs = xcalloc(n_pairs + 1, sizeof(*p->pairs)),
		.extras = xcalloc(n_extras + 1, sizeof(*p->extras)),
		.n = 1,
	};
}

void count_places_fini(struct count_places *p)
{
	free(p->blocks);
	free(p->pairs);
	free(p->extras);
	*p = (struct count_places){ 0 };
}

struct find {
	struct map numbers;
	struct count_places *ret;
};

static uint32_t number_at(struct find *f, uint32_t nest, uint64_t addr)
{
	bool is_new;
	uint64_t *slot = map_slot(&f->numbers, count_ways_key(nest, addr), &is_new);

	if (is_new)
		*slot = f->ret->n++;
	return (uint32_t)*slot;
}

static uint32_t number_of(struct find *f, const struct count_way *w)
{
	return w->is_there && !w->is_out ? number_at(f, w->nest, w->addr) : 0;
}

void count_places_find(struct count_places *ret, const struct count_flow_input *in)
{
	struct find f = { .ret = ret };

	count_places_make(ret, in->n_blocks, in->n_pairs, in->n_extras);
	/* Blocks begin at about as many addresses as there are. */
	map_reserve(&f.numbers, in->n_blocks);
	for (size_t i = 1; i < in->n_blocks; i++)
		ret->blocks[i].start =
			number_at(&f, in->blocks[i].nest, in->blocks[i].addr);
	for (size_t i = 1; i < in->n_blocks; i++) {
		struct count_ways ways = count_ways_of(&in->blocks[i]);

		ret->blocks[i].on = number_of(&f, &ways.on);
		ret->blocks[i].to = number_of(&f, &ways.to);
	}
	for (size_t i = 0; i < in->n_pairs; i++) {
		const struct count_file_pair *p = &in->pairs[i];

		if (p->block < in->n_blocks)
			ret->pairs[i] =
				number_at(&f, in->blocks[p->block].nest, p->target);
	}
	for (size_t i = 0; i < in->n_extras; i++) {
		const struct count_file_extra *x = &in->extras[i];

		if (x->kind == COUNT_EXTRA_ENTER || !x->block)
			ret->extras[i] = number_at(&f, x->nest, x->addr);
	}
	map_fini(&f.numbers);
}
