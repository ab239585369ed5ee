/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/count_ways.h"

/* What flow is kept in: a place, or the part of a block behind its counter.  Number 0 is
 * outside of all code and keeps nothing. */
struct part {
	int64_t balance;    /* what is known to flow in, less what is known to flow out */
	uint32_t n_unknown; /* ways */
	uint32_t unknown;   /* all their numbers, one on the other */
};

struct way {
	uint32_t from, to;
	int64_t *n;
	bool is_known;
};

struct solver {
	const struct count_flow_input *in;
	struct count_flow_block *blocks;
	const struct count_places *places; /* their numbers are parts' */
	VEC(struct part) parts;
	VEC(struct way) ways;
	VEC(uint32_t) ready; /* parts with one unknown way */
};

static uint32_t add_part(struct solver *s)
{
	vec_push(&s->parts);
	return (uint32_t)s->parts.n - 1;
}

static int64_t counter(const struct solver *s, uint32_t i)
{
	return i < s->in->n_counters ? (int64_t)s->in->counters[i] : 0;
}

/* Foreign numbers may be any: they wrap. */
static void add(int64_t *to, int64_t n)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)n);
}

static int64_t negative(int64_t n)
{
	return (int64_t) - (uint64_t)n;
}

static void flow(struct solver *s, uint32_t from, uint32_t to, int64_t n)
{
	add(&s->parts.at[from].balance, negative(n));
	add(&s->parts.at[to].balance, n);
}

static void touch(struct solver *s, uint32_t part, uint32_t way)
{
	s->parts.at[part].n_unknown++;
	s->parts.at[part].unknown ^= way;
}

/* With a counter, its flow is known; without, it is to be found. */
static void add_way(struct solver *s, uint32_t from, uint32_t to, uint32_t count,
		    int64_t *n)
{
	uint32_t i = (uint32_t)s->ways.n;

	if (count) {
		*n = counter(s, count);
		flow(s, from, to, *n);
		return;
	}
	*vec_push(&s->ways) = (struct way){ from, to, n, false };
	touch(s, from, i);
	touch(s, to, i);
}

/* Where the block's flow is behind its counter. */
static uint32_t part_behind(struct solver *s, size_t i)
{
	const struct count_file_block *b = &s->in->blocks[i];
	uint32_t start = s->places->blocks[i].start, behind;

	if (!b->inside)
		return start;
	behind = add_part(s);
	flow(s, start, behind, counter(s, b->inside));
	return behind;
}

static void add_way_of(struct solver *s, uint32_t behind, const struct count_way *w,
		       uint32_t to, int64_t *n)
{
	if (w->is_there)
		add_way(s, behind, to, w->counter, n);
}

static void add_block(struct solver *s, size_t i, uint32_t behind)
{
	struct count_ways ways = count_ways_of(&s->in->blocks[i]);
	const struct count_places_block *places = &s->places->blocks[i];

	add_way_of(s, behind, &ways.on, places->on, &s->blocks[i].on);
	add_way_of(s, behind, &ways.to, places->to, &s->blocks[i].to);
}

static void add_returns(struct solver *s)
{
	const struct count_flow_input *in = s->in;

	for (size_t i = 0; i < in->n_returns; i++) {
		uint32_t block = in->returns[i].block;

		if (block && block < in->n_blocks)
			add_way(s, 0, s->places->blocks[block].start,
				in->returns[i].counter, &s->blocks[block].returned_to);
	}
}

static void add_pairs(struct solver *s, const uint32_t *behind)
{
	const struct count_flow_input *in = s->in;

	for (size_t i = 0; i < in->n_pairs; i++) {
		const struct count_file_pair *p = &in->pairs[i];

		if (p->block < in->n_blocks)
			flow(s, behind[p->block], s->places->pairs[i],
			     counter(s, p->counter));
	}
}

static void add_extras(struct solver *s, const uint32_t *behind)
{
	const struct count_flow_input *in = s->in;

	for (size_t i = 0; i < in->n_extras; i++) {
		const struct count_file_extra *x = &in->extras[i];

		if (x->kind == COUNT_EXTRA_ENTER) {
			flow(s, 0, s->places->extras[i], (int64_t)x->n);
		} else if (x->block && x->block < in->n_blocks) {
			const struct count_file_block *b = &in->blocks[x->block];
			bool is_behind = !b->inside || x->addr - b->addr >= b->counted_at;

			flow(s,
			     is_behind ? behind[x->block]
				       : s->places->blocks[x->block].start,
			     0, (int64_t)x->n);
		} else if (!x->block) {
			flow(s, s->places->extras[i], 0, (int64_t)x->n);
		}
	}
}

static void note_if_ready(struct solver *s, uint32_t part)
{
	if (part && s->parts.at[part].n_unknown == 1)
		*vec_push(&s->ready) = part;
}

static void settle(struct solver *s, uint32_t part, uint32_t way)
{
	s->parts.at[part].n_unknown--;
	s->parts.at[part].unknown ^= way;
	note_if_ready(s, part);
}

static void tell_way(struct solver *s, uint32_t part)
{
	uint32_t i = s->parts.at[part].unknown;
	struct way *w = &s->ways.at[i];

	*w->n = w->from == part ? s->parts.at[part].balance
				: negative(s->parts.at[part].balance);
	w->is_known = true;
	flow(s, w->from, w->to, *w->n);
	settle(s, w->from, i);
	settle(s, w->to, i);
}

static void tell_ways(struct solver *s)
{
	for (uint32_t i = 1; i < s->parts.n; i++)
		note_if_ready(s, i);
	while (s->ready.n) {
		uint32_t part = s->ready.at[--s->ready.n];

		if (s->parts.at[part].n_unknown == 1)
			tell_way(s, part);
	}
}

static uint64_t magnitude(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

static void check(const struct solver *s, struct count_flow *ret)
{
	for (size_t i = 1; i < s->parts.n; i++)
		if (!s->parts.at[i].n_unknown)
			ret->n_unbalanced += magnitude(s->parts.at[i].balance);
	vec_each(w, &s->ways) {
		ret->n_unknown += !w->is_known;
		if (w->is_known && *w->n < 0)
			ret->n_unbalanced += magnitude(*w->n);
	}
}

/* Blocks with a counter tell themselves; others are all that flows out of them. */
static void tell_blocks(struct solver *s)
{
	const struct count_flow_input *in = s->in;

	for (size_t i = 1; i < in->n_blocks; i++) {
		const struct count_file_block *b = &in->blocks[i];
		struct count_flow_block *f = &s->blocks[i];

		f->n = f->on;
		add(&f->n, f->to);
		if (b->inside)
			f->n = counter(s, b->inside);
	}
	for (size_t i = 0; i < in->n_pairs; i++)
		if (in->pairs[i].block < in->n_blocks &&
		    !in->blocks[in->pairs[i].block].inside)
			add(&s->blocks[in->pairs[i].block].n,
			    counter(s, in->pairs[i].counter));
	for (size_t i = 0; i < in->n_extras; i++) {
		const struct count_file_extra *x = &in->extras[i];
		const struct count_file_block *b;

		if (x->kind != COUNT_EXTRA_LEAVE || !x->block || x->block >= in->n_blocks)
			continue;
		b = &in->blocks[x->block];
		if (!b->inside || x->addr - b->addr < b->counted_at)
			add(&s->blocks[x->block].n, (int64_t)x->n);
	}
}

/* Ways without a counter are at most about as many as blocks. */
static void reserve(struct solver *s)
{
	vec_reserve(&s->parts, s->places->n + s->in->n_blocks);
	vec_reserve(&s->ways, s->in->n_blocks);
	memset(s->parts.at, 0, s->places->n * sizeof(*s->parts.at));
	s->parts.n = s->places->n;
}

static void solve(struct solver *s, struct count_flow *ret)
{
	const struct count_flow_input *in = s->in;
	own(freep) uint32_t *behind = xcalloc(in->n_blocks + 1, sizeof(*behind));

	reserve(s);
	for (size_t i = 1; i < in->n_blocks; i++)
		behind[i] = part_behind(s, i);
	for (size_t i = 1; i < in->n_blocks; i++)
		add_block(s, i, behind[i]);
	add_returns(s);
	add_pairs(s, behind);
	add_extras(s, behind);
	tell_ways(s);
	check(s, ret);
	tell_blocks(s);
}

void count_flow_solve(const struct count_flow_input *in, struct count_flow *ret)
{
	own(count_places_fini) struct count_places found = { 0 };
	struct solver s = { .in = in, .places = &in->places };

	*ret = (struct count_flow){ .blocks = xcalloc(in->n_blocks + 1,
						      sizeof(*ret->blocks)) };
	s.blocks = ret->blocks;
	if (!in->places.n) {
		count_places_find(&found, in);
		s.places = &found;
	}
	solve(&s, ret);
	vec_fini(&s.parts);
	vec_fini(&s.ways);
	vec_fini(&s.ready);
}

void count_flow_fini(struct count_flow *f)
{
	free(f->blocks);
	*f = (struct count_flow){ 0 };
}
