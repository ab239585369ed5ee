/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_accesses.h"

#include <math.h>

#include "insn/machine_model.h"

#define DEVIATIONS 2.0 /* that chance may hide */
/* What a loop may use again and again and find at hand: half of a cache of 32 KB with
 * eight ways, and of 64 pages. */
#define HELD_LINES 256
#define HELD_PAGES 32
/* Most lines come again, so that there are hardly others than those that were seen. */
#define NEW_IF_SEEN 0.5
#define LINE_BYTES  64.0
#define PAGE_BYTES  4096.0
#define RARE	    0.01 /* of a loop's times: what such instructions access is no matter */
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

/* Of a loop: several instructions may use the same places. */
struct footprint {
	struct distinct lines, pages;
	double span; /* bytes from the first to the last of each instruction */
	uint64_t samples;
};

static double count(const struct distinct *d)
{
	return d->n < DISTINCT_MAX ? d->n : MAY_BE_MORE * distinct_count(d);
}

static void merge(struct distinct *to, const struct distinct *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		distinct_add(to, from->kept[i].hash, from->kept[i].times);
}

static void merge_place(struct footprint *to, const struct access_place *a)
{
	merge(&to->lines, &a->lines);
	merge(&to->pages, &a->pages);
	to->span +=
		a->low <= a->high ? (double)(a->high - a->low) + LINE_BYTES : INFINITY;
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
			merge_place(ret, a);
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

/* Next time it is farther down, or up, than in all samples before. */
static double new_ends(const struct access_place *a)
{
	return a->samples ? most_by_chance(2) / (double)a->samples : 1;
}

/* What an instruction, and all of its loop, was seen to use of something. */
struct use {
	const struct distinct *seen;
	double all, span; /* of the loop: that were seen; from end to end */
	double ends;	  /* how often it is beyond these */
	double rest;	  /* how often nobody knows where it is */
};

/* The share of the times that it is where no more than `held` are at hand: by those that
 * were seen, or by what lies between the ends of them. */
static double elsewhere(const struct use *u, double held)
{
	double least = 1;

	if (u->all <= held)
		least = new_places(u->seen);
	if (u->span <= held)
		least = fmin(least, u->ends);
	return fmin(1, least + u->rest);
}

/* Lines are near, and the pages too many. */
static bool is_of_many_pages(const struct machine_model *m, const struct use *lines,
			     const struct use *pages)
{
	return lines->all <= m->l2_lines && new_places(lines->seen) < NEW_IF_SEEN &&
	       pages->all > m->l2_pages;
}

static bool is_at_hand(const struct use *lines, const struct use *pages)
{
	return lines->all <= HELD_LINES && new_places(lines->seen) < NEW_IF_SEEN &&
	       pages->all <= HELD_PAGES;
}

struct stall_reach stall_accesses_reach(const struct stall_loop *l, uint32_t step)
{
	const struct access_place *a = access_places_of(&l->c->accesses, step);
	const struct machine_model *m = l->c->model;
	struct stall_reach r = { .lines = 1, .pages = 1, .far_lines = 1, .far_pages = 1 };
	struct use lines, pages;
	struct footprint all;

	if (!a || !l->is_loop || l->has_calls || !measure(l, &all))
		return r;
	lines = (struct use){ .seen = &a->lines,
			      .all = count(&all.lines),
			      .span = all.span / LINE_BYTES,
			      .ends = new_ends(a),
			      .rest = unseen(a, &all) + l->entries };
	pages = lines;
	pages.seen = &a->pages;
	pages.all = count(&all.pages);
	pages.span = all.span / PAGE_BYTES;
	r.lines = r.far_lines = elsewhere(&lines, HELD_LINES);
	r.pages = r.far_pages = elsewhere(&pages, HELD_PAGES);
	r.is_at_hand = is_at_hand(&lines, &pages);
	if (m && m->l2_lines && m->l2_pages) {
		r.far_lines = fmin(r.lines, elsewhere(&lines, m->l2_lines / 2.0));
		r.far_pages = fmin(r.pages, elsewhere(&pages, m->l2_pages / 2.0));
		r.is_of_many_pages = is_of_many_pages(m, &lines, &pages);
	}
	return r;
}
