/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_accesses.h"

#include <math.h>

#define DEVIATIONS 2.0 /* that chance may hide */
/* What a loop may use again and again and find at hand: half of a cache of 32 KB with
 * eight ways, and of 64 pages. */
#define HELD_LINES 256
#define HELD_PAGES 32
#define RARE	   0.01 /* of a loop's times: what such instructions access is no matter */
/* The number of what was seen only in part may be so much more. */
#define MAY_BE_MORE 1.36

static double most_by_chance(double n)
{
	return n + 1 + DEVIATIONS * sqrt(n + 1);
}

static bool accesses(const struct operation *o)
{
	return (o->loads || o->stores) && !o->is_in_frame && !o->pushes && !o->pops;
}

struct footprint {
	double lines, pages;
	uint64_t samples; /* in the loop */
};

static double count(const struct distinct *d)
{
	return d->n < DISTINCT_MAX ? d->n : MAY_BE_MORE * distinct_count(d);
}

/* All places that the loop uses; false: of some of them nothing is known. */
static bool measure(const struct stall_loop *l, struct footprint *ret)
{
	const struct function_code *c = l->c;

	*ret = (struct footprint){ 0 };
	for (uint32_t k = 0; k < l->n_blocks; k++) {
		const struct procedure_block *b = &c->procedure->blocks[l->blocks[k]];
		bool is_rare =
			c->blocks[l->blocks[k]].times < RARE * c->blocks[l->block].times;

		for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++) {
			const struct access_place *a = access_places_of(&c->accesses, i);

			ret->samples += c->steps[i].samples;
			if (is_rare || !accesses(&c->steps[i].operation))
				continue;
			if (!a)
				return false;
			ret->lines += count(&a->lines);
			ret->pages += count(&a->pages);
		}
	}
	return true;
}

/* Of the places after a sample, those that no other sample saw: as many are yet to come
 * that none has seen. */
static double new_places(const struct distinct *d)
{
	double once = 0, all = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		once += d->kept[i].times == 1;
		all += (double)d->kept[i].times;
	}
	return all > 0 ? most_by_chance(once) / all : 1;
}

/* Samples of the loop after which it was not met, and times that nobody knew where. */
static double unseen(const struct access_place *a, const struct footprint *f)
{
	double met = (double)a->sums[ACCESS_MET],
	       unknown = (double)a->sums[ACCESS_UNKNOWN];
	double missed =
		f->samples > a->samples ? 1 - (double)a->samples / (double)f->samples : 0;

	return met > 0 ? missed + unknown / (met + unknown) : 1;
}

struct stall_reach stall_accesses_reach(const struct stall_loop *l, uint32_t step)
{
	const struct access_place *a = access_places_of(&l->c->accesses, step);
	struct stall_reach r = { 1, 1, false };
	struct footprint all;

	if (!a || !l->is_loop || l->has_calls)
		return r;
	if (!measure(l, &all))
		return r;
	if (all.lines <= HELD_LINES)
		r.lines = fmin(1, new_places(&a->lines) + unseen(a, &all) + l->entries);
	if (all.pages <= HELD_PAGES)
		r.pages = fmin(1, new_places(&a->pages) + unseen(a, &all) + l->entries);
	return r;
}
