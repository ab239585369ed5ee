/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_common.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/count_lists.h"
#include "collect/count_reader.h"
#include "collect/count_ways.h"

/* What a counter is of, as a list has it: kind, and number times as many kinds. */
enum { OF_BLOCK, OF_PAIR, OF_RETURN, N_KINDS };

/* Parts; 0: outside of all code, which joins nothing. */
struct spot {
	uint32_t start, behind; /* its counter, if it has one */
	uint32_t on, to;
};

struct count_common {
	struct count_file_base there;
	struct count_reader tables;
	struct map part_at;	    /* by place */
	struct spot *spots;	    /* by block */
	uint32_t *targets;	    /* parts, by pair */
	struct count_lists users;   /* of a counter */
	struct count_lists blocks;  /* of a component */
	struct count_lists returns; /* the same */
	VEC(uint32_t) components;   /* by part; while it is made: parents, for joining */
	/* Of the child. */
	bool *is_touched;	/* by component ... */
	VEC(uint32_t) touched;	/* ... and those */
	uint32_t *numbers;	/* new, by block; 0: not executed */
	VEC(uint32_t) executed; /* blocks */
	uint32_t *places;	/* their numbers, by part; 0: none yet */
	VEC(uint32_t) numbered; /* parts */
	struct map own_places;	/* where nothing is in common */
};

/* Joining. */

static uint32_t add_part(struct count_common *c)
{
	*vec_push(&c->components) = (uint32_t)c->components.n;
	return (uint32_t)c->components.n - 1;
}

static uint32_t root_of(struct count_common *c, uint32_t part)
{
	uint32_t *p = c->components.at;

	while (p[part] != part) {
		p[part] = p[p[part]];
		part = p[part];
	}
	return part;
}

static void join(struct count_common *c, uint32_t a, uint32_t b)
{
	a = root_of(c, a);
	b = root_of(c, b);
	c->components.at[a > b ? a : b] = a > b ? b : a;
}

static uint32_t part_at(struct count_common *c, uint32_t nest, uint64_t addr)
{
	bool is_new;
	uint64_t *slot = map_slot(&c->part_at, count_ways_key(nest, addr), &is_new);

	if (is_new)
		*slot = add_part(c);
	return (uint32_t)*slot;
}

static uint32_t follow(struct count_common *c, uint32_t from, const struct count_way *w)
{
	uint32_t to = w->is_there && !w->is_out ? part_at(c, w->nest, w->addr) : 0;

	if (to && !w->counter)
		join(c, from, to);
	return to;
}

static void join_block(struct count_common *c, uint32_t i)
{
	const struct count_file_block *b = &c->tables.flow.blocks[i];
	struct count_ways ways = count_ways_of(b);
	struct spot *s = &c->spots[i];

	s->start = part_at(c, b->nest, b->addr);
	s->behind = b->inside ? add_part(c) : s->start;
	s->on = follow(c, s->behind, &ways.on);
	s->to = follow(c, s->behind, &ways.to);
}

/* Blocks begin at about as many addresses as there are. */
static void reserve(struct count_common *c)
{
	map_reserve(&c->part_at, c->there.n_blocks);
	vec_reserve(&c->components, c->there.n_blocks * (size_t)2);
}

static void join_all(struct count_common *c)
{
	const struct count_flow_input *in = &c->tables.flow;

	add_part(c);
	for (uint32_t i = 1; i < in->n_blocks; i++)
		join_block(c, i);
	for (size_t i = 0; i < in->n_pairs; i++)
		c->targets[i] = part_at(c, in->blocks[in->pairs[i].block].nest,
					in->pairs[i].target);
}

static void name_components(struct count_common *c)
{
	for (uint32_t i = 0; i < c->components.n; i++)
		c->components.at[i] = root_of(c, i);
}

static uint32_t component_of(const struct count_common *c, uint32_t part)
{
	return c->components.at[part];
}

static void add_user(struct count_common *c, uint32_t counter, size_t i, unsigned kind)
{
	if (counter)
		count_lists_add(&c->users, counter, (uint32_t)i * N_KINDS + kind);
}

static void list_block(struct count_common *c, uint32_t i)
{
	const struct count_file_block *b = &c->tables.flow.blocks[i];
	uint32_t start = component_of(c, c->spots[i].start),
		 behind = component_of(c, c->spots[i].behind);

	add_user(c, b->inside, i, OF_BLOCK);
	add_user(c, b->on, i, OF_BLOCK);
	add_user(c, b->to, i, OF_BLOCK);
	count_lists_add(&c->blocks, start, i);
	if (behind != start)
		count_lists_add(&c->blocks, behind, i);
}

static void list_all(struct count_common *c)
{
	const struct count_flow_input *in = &c->tables.flow;

	for (uint32_t i = 1; i < in->n_blocks; i++)
		list_block(c, i);
	for (size_t i = 0; i < in->n_pairs; i++)
		add_user(c, in->pairs[i].counter, i, OF_PAIR);
	for (size_t i = 0; i < in->n_returns; i++) {
		add_user(c, in->returns[i].counter, i, OF_RETURN);
		count_lists_add(&c->returns,
				component_of(c, c->spots[in->returns[i].block].start),
				(uint32_t)i);
	}
	count_lists_order(&c->users, in->n_counters);
	count_lists_order(&c->blocks, c->components.n);
	count_lists_order(&c->returns, c->components.n);
}

/* Making. */

/* A file whose header says that there is less. */
struct cut {
	const struct count_window *of;
	struct count_file_base there;
};

static bool next_of_cut(void *ctx, uint64_t at, struct count_extent *ret)
{
	const struct cut *cut = ctx;

	return cut->of->next(cut->of->ctx, at, ret);
}

static bool read_cut(void *ctx, uint64_t off, void *to, size_t n)
{
	const struct cut *cut = ctx;
	struct count_file_header *h = to;

	if (!cut->of->read(cut->of->ctx, off, to, n))
		return false;
	if (off || n < sizeof(*h))
		return true;
	h->images_bytes = cut->there.images_bytes;
	h->n_blocks = cut->there.n_blocks;
	h->n_pairs = cut->there.n_pairs;
	h->n_returns = cut->there.n_returns;
	h->n_threads = h->n_extras = 0;
	return true;
}

int count_common_read(const struct count_window *w, const struct count_file_base *there,
		      struct count_common **ret, struct err *e)
{
	struct cut cut = { w, *there };
	const struct count_window window = {
		.ctx = &cut, .size = w->size, .next = next_of_cut, .read = read_cut
	};
	struct count_common *c = xcalloc(1, sizeof(*c));
	int rc = count_reader_open(&window, &c->tables, e);

	if (rc == 0 && c->tables.flow.n_blocks != there->n_blocks)
		rc = err_set(e, ERR_FORMAT, "damaged counts: a parent's last block");
	if (rc < 0) {
		count_common_free(c);
		return rc;
	}
	c->there = *there;
	c->spots = xcalloc(there->n_blocks + 1, sizeof(*c->spots));
	c->targets = xcalloc(there->n_pairs + 1, sizeof(*c->targets));
	reserve(c);
	join_all(c);
	name_components(c);
	list_all(c);
	c->is_touched = xcalloc(c->components.n, sizeof(*c->is_touched));
	c->numbers = xcalloc(there->n_blocks + 1, sizeof(*c->numbers));
	c->places = xcalloc(c->components.n, sizeof(*c->places));
	*ret = c;
	return 0;
}

void count_common_free(struct count_common *c)
{
	if (!c)
		return;
	count_reader_fini(&c->tables);
	map_fini(&c->part_at);
	count_lists_fini(&c->users);
	count_lists_fini(&c->blocks);
	count_lists_fini(&c->returns);
	vec_fini(&c->components);
	vec_fini(&c->touched);
	vec_fini(&c->executed);
	vec_fini(&c->numbered);
	map_fini(&c->own_places);
	free(c->spots);
	free(c->targets);
	free(c->is_touched);
	free(c->numbers);
	free(c->places);
	free(c);
}

const struct count_file_base *count_common_there(const struct count_common *c)
{
	return &c->there;
}

const struct count_reader *count_common_tables(const struct count_common *c)
{
	return &c->tables;
}

/* What a child may have executed. */

static void touch(struct count_common *c, uint32_t part)
{
	uint32_t component = component_of(c, part);

	if (!component || c->is_touched[component])
		return;
	c->is_touched[component] = true;
	*vec_push(&c->touched) = component;
}

static void touch_at(struct count_common *c, uint32_t nest, uint64_t addr)
{
	const uint64_t *at = map_find(&c->part_at, count_ways_key(nest, addr));

	if (at)
		touch(c, (uint32_t)*at);
}

static void touch_block(struct count_common *c, uint32_t i)
{
	const struct spot *s = &c->spots[i];

	touch(c, s->start);
	touch(c, s->behind);
	touch(c, s->on);
	touch(c, s->to);
}

static void touch_user(struct count_common *c, uint32_t user)
{
	const struct count_flow_input *in = &c->tables.flow;
	uint32_t i = user / N_KINDS;

	if (user % N_KINDS == OF_BLOCK)
		touch_block(c, i);
	if (user % N_KINDS == OF_PAIR) {
		touch_block(c, in->pairs[i].block);
		touch(c, c->targets[i]);
	}
	if (user % N_KINDS == OF_RETURN)
		touch_block(c, in->returns[i].block);
}

static void touch_users(struct count_common *c, uint32_t counter)
{
	size_t n;
	const uint32_t *users = count_lists_of(&c->users, counter, &n);

	for (size_t i = 0; i < n; i++)
		touch_user(c, users[i]);
}

static void touch_counted(struct count_common *c, const uint8_t *touched,
			  const struct count_flow_input *in)
{
	for (size_t i = 0; i < in->n_counters; i++) {
		if (!touched[i / COUNT_READER_CHUNK])
			i |= COUNT_READER_CHUNK - 1;
		else if (in->counters[i])
			touch_users(c, (uint32_t)i);
	}
}

/* A way without a counter may be taken. */
static bool may_flow(const struct count_flow_input *in, uint32_t counter)
{
	return !counter || in->counters[counter];
}

static void touch_way(struct count_common *c, const struct count_flow_input *in,
		      const struct count_way *w)
{
	if (w->is_there && !w->is_out && may_flow(in, w->counter))
		touch_at(c, w->nest, w->addr);
}

/* Of the child's own, by a number that counts those in common as well; the last may not
 * have been written any more. */
static const struct count_file_block *
own_block(const struct count_common *c, const struct count_flow_input *in, uint32_t block)
{
	static const struct count_file_block none;
	uint32_t i = block - c->there.n_blocks;

	return i < in->n_blocks ? &in->blocks[i] : &none;
}

static void touch_numbered(struct count_common *c, const struct count_flow_input *in,
			   uint32_t block)
{
	const struct count_file_block *b;

	if (block < c->there.n_blocks) {
		touch_block(c, block);
		return;
	}
	b = own_block(c, in, block);
	touch_at(c, b->nest, b->addr);
}

static uint32_t nest_of(const struct count_common *c, const struct count_flow_input *in,
			uint32_t block)
{
	return block < c->there.n_blocks ? c->tables.flow.blocks[block].nest
					 : own_block(c, in, block)->nest;
}

static void touch_own(struct count_common *c, const struct count_flow_input *in)
{
	for (size_t i = 0; i < in->n_blocks; i++) {
		struct count_ways ways = count_ways_of(&in->blocks[i]);

		touch_at(c, in->blocks[i].nest, in->blocks[i].addr);
		touch_way(c, in, &ways.on);
		touch_way(c, in, &ways.to);
	}
	for (size_t i = 0; i < in->n_returns; i++)
		if (may_flow(in, in->returns[i].counter))
			touch_numbered(c, in, in->returns[i].block);
	for (size_t i = 0; i < in->n_pairs; i++)
		if (may_flow(in, in->pairs[i].counter)) {
			touch_numbered(c, in, in->pairs[i].block);
			touch_at(c, nest_of(c, in, in->pairs[i].block),
				 in->pairs[i].target);
		}
	for (size_t i = 0; i < in->n_extras; i++) {
		const struct count_file_extra *x = &in->extras[i];

		if (x->block)
			touch_numbered(c, in, x->block);
		else
			touch_at(c, x->nest, x->addr);
	}
}

/* Putting it together. */

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Of many it takes less to go over all blocks than to sort them. */
#define MANY_PART 16

static void order_executed(struct count_common *c)
{
	if (c->executed.n < c->there.n_blocks / MANY_PART) {
		if (c->executed.n)
			qsort(c->executed.at, c->executed.n, sizeof(*c->executed.at),
			      by_number);
		return;
	}
	vec_clear(&c->executed);
	for (uint32_t i = 0; i < c->there.n_blocks; i++)
		if (c->numbers[i])
			*vec_push(&c->executed) = i;
}

static void number_blocks(struct count_common *c)
{
	vec_each(component, &c->touched) {
		size_t n;
		const uint32_t *blocks = count_lists_of(&c->blocks, *component, &n);

		for (size_t i = 0; i < n; i++) {
			if (c->numbers[blocks[i]])
				continue;
			c->numbers[blocks[i]] = 1;
			*vec_push(&c->executed) = blocks[i];
		}
	}
	order_executed(c);
	for (size_t i = 0; i < c->executed.n; i++)
		c->numbers[c->executed.at[i]] = (uint32_t)i + 1;
}

static uint32_t new_number(const struct count_common *c, uint32_t block)
{
	return block < c->there.n_blocks
		       ? c->numbers[block]
		       : (uint32_t)c->executed.n + 1 + block - c->there.n_blocks;
}

/* The parent's file may have been another's since. */
static bool is_sound(const struct count_file_block *b, const struct count_reader *r)
{
	size_t n = r->flow.n_counters;

	return b->nest < r->n_nests && b->entered < r->n_nests && b->inside < n &&
	       b->on < n && b->to < n;
}

/* Places: of what is in common they are known by parts. */

static uint32_t place_of(struct count_common *c, struct count_places *p, uint32_t part)
{
	if (part && !c->places[part]) {
		c->places[part] = p->n++;
		*vec_push(&c->numbered) = part;
	}
	return c->places[part];
}

static uint32_t place_at(struct count_common *c, struct count_places *p, uint32_t nest,
			 uint64_t addr)
{
	uint64_t key = count_ways_key(nest, addr), *slot;
	const uint64_t *part = map_find(&c->part_at, key);
	bool is_new;

	if (part)
		return place_of(c, p, (uint32_t)*part);
	slot = map_slot(&c->own_places, key, &is_new);
	if (is_new)
		*slot = p->n++;
	return (uint32_t)*slot;
}

static uint32_t place_of_way(struct count_common *c, struct count_places *p,
			     const struct count_way *w)
{
	return w->is_there && !w->is_out ? place_at(c, p, w->nest, w->addr) : 0;
}

/* As count_places_find() has their order: by that it is told what does not add up. */
static void number_places(struct count_common *c, struct count_reader *r)
{
	struct count_places *p = &r->flow.places;
	const struct count_file_block *blocks = r->flow.blocks;
	size_t n = c->executed.n;

	for (size_t i = 0; i < n; i++)
		p->blocks[i + 1].start =
			place_of(c, p, c->spots[c->executed.at[i]].start);
	for (size_t i = n + 1; i < r->flow.n_blocks; i++)
		p->blocks[i].start = place_at(c, p, blocks[i].nest, blocks[i].addr);
	for (size_t i = 0; i < n; i++) {
		const struct spot *s = &c->spots[c->executed.at[i]];

		p->blocks[i + 1].on = place_of(c, p, s->on);
		p->blocks[i + 1].to = place_of(c, p, s->to);
	}
	for (size_t i = n + 1; i < r->flow.n_blocks; i++) {
		struct count_ways ways = count_ways_of(&blocks[i]);

		p->blocks[i].on = place_of_way(c, p, &ways.on);
		p->blocks[i].to = place_of_way(c, p, &ways.to);
	}
}

static void number_targets(struct count_common *c, struct count_reader *r)
{
	const struct count_flow_input *in = &r->flow;
	struct count_places *p = &r->flow.places;

	for (size_t i = 0; i < in->n_pairs; i++) {
		const struct count_file_pair *x = &in->pairs[i];

		if (x->block < in->n_blocks)
			p->pairs[i] =
				place_at(c, p, in->blocks[x->block].nest, x->target);
	}
	for (size_t i = 0; i < in->n_extras; i++) {
		const struct count_file_extra *x = &in->extras[i];

		if (x->kind == COUNT_EXTRA_ENTER || !x->block)
			p->extras[i] = place_at(c, p, x->nest, x->addr);
	}
}

static bool merge_blocks(const struct count_common *c, struct count_reader *r)
{
	size_t n = c->executed.n + 1 + r->flow.n_blocks;
	struct count_file_block *all = xcalloc(n, sizeof(*all));
	bool are_sound = true;

	for (size_t i = 0; i < c->executed.n; i++) {
		struct count_file_block *b = &all[i + 1];

		*b = c->tables.flow.blocks[c->executed.at[i]];
		if (b->image == c->tables.n_images)
			b->image = (uint32_t)r->n_images;
		are_sound &= is_sound(b, r);
	}
	if (r->flow.n_blocks)
		memcpy(all + c->executed.n + 1, r->flow.blocks,
		       r->flow.n_blocks * sizeof(*all));
	r->flow.blocks = count_reader_own(r, COUNT_READER_BLOCKS, all);
	r->flow.n_blocks = n;
	return are_sound;
}

static bool merge_returns(const struct count_common *c, struct count_reader *r)
{
	const struct count_flow_input *common = &c->tables.flow, *own = &r->flow;
	VEC(struct count_file_return) all = { 0 };
	bool are_sound = true;

	vec_each(component, &c->touched) {
		size_t n;
		const uint32_t *returns = count_lists_of(&c->returns, *component, &n);

		for (size_t i = 0; i < n; i++)
			*vec_push(&all) = common->returns[returns[i]];
	}
	for (size_t i = 0; i < own->n_returns; i++)
		if (may_flow(own, own->returns[i].counter))
			*vec_push(&all) = own->returns[i];
	vec_each(x, &all) {
		x->block = new_number(c, x->block);
		are_sound &= x->counter < own->n_counters;
	}
	r->flow.returns = count_reader_own(r, COUNT_READER_RETURNS, all.at);
	r->flow.n_returns = all.n;
	return are_sound;
}

struct pairs {
	VEC(struct count_file_pair) all;
};

static void add_pairs_of(const struct count_common *c, uint32_t counter, struct pairs *to)
{
	size_t n;
	const uint32_t *users = count_lists_of(&c->users, counter, &n);

	for (size_t i = 0; i < n; i++)
		if (users[i] % N_KINDS == OF_PAIR)
			*vec_push(&to->all) = c->tables.flow.pairs[users[i] / N_KINDS];
}

static void merge_pairs(const struct count_common *c, const uint8_t *touched,
			struct count_reader *r)
{
	const struct count_flow_input *own = &r->flow;
	struct pairs to = { 0 };

	for (size_t i = 0; i < own->n_counters; i++) {
		if (!touched[i / COUNT_READER_CHUNK])
			i |= COUNT_READER_CHUNK - 1;
		else if (own->counters[i])
			add_pairs_of(c, (uint32_t)i, &to);
	}
	for (size_t i = 0; i < own->n_pairs; i++)
		if (may_flow(own, own->pairs[i].counter))
			*vec_push(&to.all) = own->pairs[i];
	vec_each(x, &to.all)
		x->block = new_number(c, x->block);
	r->flow.pairs = count_reader_own(r, COUNT_READER_PAIRS, to.all.at);
	r->flow.n_pairs = to.all.n;
}

static void renumber_extras(const struct count_common *c, struct count_reader *r)
{
	struct count_file_extra *all = r->tables[COUNT_READER_EXTRAS];

	for (size_t i = 0; i < r->flow.n_extras; i++)
		all[i].block = all[i].block ? new_number(c, all[i].block) : 0;
}

static void clear(struct count_common *c)
{
	vec_each(component, &c->touched)
		c->is_touched[*component] = false;
	vec_each(block, &c->executed)
		c->numbers[*block] = 0;
	vec_each(part, &c->numbered)
		c->places[*part] = 0;
	vec_clear(&c->touched);
	vec_clear(&c->executed);
	vec_clear(&c->numbered);
	map_clear(&c->own_places);
}

int count_common_complete(struct count_common *c, const uint8_t *touched,
			  struct count_reader *r, struct err *e)
{
	bool is_sound;

	touch_counted(c, touched, &r->flow);
	touch_own(c, &r->flow);
	number_blocks(c);
	merge_pairs(c, touched, r);
	is_sound = merge_returns(c, r);
	renumber_extras(c, r);
	is_sound &= merge_blocks(c, r);
	count_places_make(&r->flow.places, r->flow.n_blocks, r->flow.n_pairs,
			  r->flow.n_extras);
	number_places(c, r);
	number_targets(c, r);
	clear(c);
	return is_sound ? 0
			: err_set(e, ERR_FORMAT,
				  "damaged counts: other tables than the parent's");
}
