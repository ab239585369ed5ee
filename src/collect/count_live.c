/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_live.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/count_insns.h"
#include "collect/count_ways.h"

/* What is counted, or told of ways without a counter: kind, and number times as many. */
enum { OF_INSIDE, OF_ON, OF_TO, OF_PAIR, OF_RETURN, N_KINDS };

#define MARK_BITS 64u

void count_live_fini(struct count_live *l)
{
	vec_each(p, &l->paths)
		free(*p);
	vec_fini(&l->paths);
	vec_fini(&l->blocks);
	vec_fini(&l->pairs);
	vec_fini(&l->images);
	vec_fini(&l->flows);
	vec_fini(&l->executed);
	vec_fini(&l->taken);
	map_fini(&l->tables.index_of_image);
	map_fini(&l->part_at);
	vec_fini(&l->spots);
	vec_fini(&l->targets);
	vec_fini(&l->returns);
	vec_fini(&l->users);
	vec_fini(&l->users_of);
	vec_fini(&l->marks);
	count_forest_fini(&l->forest);
	*l = (struct count_live){ 0 };
}

/* Growing. */

static uint32_t part_at(struct count_live *l, uint32_t nest, uint64_t addr)
{
	bool is_new;
	uint64_t *slot = map_slot(&l->part_at, count_ways_key(nest, addr), &is_new);

	if (is_new)
		*slot = count_forest_add(&l->forest);
	return (uint32_t)*slot;
}

static void use(struct count_live *l, uint32_t counter, uint32_t what)
{
	uint32_t *first = &l->users_of.at[counter];

	*vec_push(&l->users) = (struct count_live_user){ .what = what, .next = *first };
	*first = (uint32_t)l->users.n - 1;
}

/* With a counter it is known what flows; without, it is told, unless the way closes a
 * circle, as those of the engine do not. */
static void add_way(struct count_live *l, uint32_t from, uint32_t to, uint32_t counter,
		    uint32_t what)
{
	if (counter)
		use(l, counter, what);
	else
		count_forest_join(&l->forest, from, to, what);
}

static uint32_t follow(struct count_live *l, uint32_t from, const struct count_way *w,
		       uint32_t what)
{
	uint32_t to = w->is_there && !w->is_out ? part_at(l, w->nest, w->addr) : 0;

	if (w->is_there)
		add_way(l, from, to, w->counter, what);
	return to;
}

static void add_block(struct count_live *l, const struct count_file_block *b,
		      size_t n_images)
{
	uint32_t what = (uint32_t)l->blocks.n * N_KINDS;
	struct count_ways ways = count_ways_of(b);
	struct count_live_spot *s = vec_push(&l->spots);

	s->start = s->behind = part_at(l, b->nest, b->addr);
	if (b->inside) {
		s->behind = count_forest_add(&l->forest);
		use(l, b->inside, what + OF_INSIDE);
	}
	s->on = follow(l, s->behind, &ways.on, what + OF_ON);
	s->to = follow(l, s->behind, &ways.to, what + OF_TO);
	*vec_push(&l->blocks) = *b;
	if (b->image >= n_images)
		l->blocks.at[l->blocks.n - 1].image = COUNT_LIVE_NO_IMAGE;
	vec_push(&l->flows);
	if (l->blocks.n > l->marks.n * MARK_BITS)
		vec_push(&l->marks);
}

static bool has_block(const struct count_live *l, uint32_t i)
{
	return i && i < l->blocks.n;
}

static void add_pair(struct count_live *l, const struct count_file_pair *p)
{
	bool is_known = has_block(l, p->block);

	*vec_push(&l->targets) =
		is_known ? part_at(l, l->blocks.at[p->block].nest, p->target) : 0;
	if (is_known && p->counter)
		use(l, p->counter, (uint32_t)l->pairs.n * N_KINDS + OF_PAIR);
	*vec_push(&l->pairs) = *p;
}

static void add_return(struct count_live *l, const struct count_file_return *r)
{
	if (has_block(l, r->block))
		add_way(l, 0, l->spots.at[r->block].start, r->counter,
			(uint32_t)l->returns.n * N_KINDS + OF_RETURN);
	*vec_push(&l->returns) = r->block;
}

/* Those of r are all. */
static void add_images(struct count_live *l, struct count_reader *r)
{
	for (size_t i = 0; i < r->index_of_image.cap; i++) {
		const struct map_entry *x = &r->index_of_image.at[i];

		if (x->used)
			*map_slot(&l->tables.index_of_image, x->key, NULL) = x->value;
	}
	for (size_t i = l->images.n; i < r->n_images; i++)
		*vec_push(&l->images) = r->images[i];
	*vec_push(&l->paths) = r->tables[COUNT_READER_PATHS];
	r->tables[COUNT_READER_PATHS] = NULL;
}

static void begin(struct count_live *l)
{
	count_forest_init(&l->forest);
	vec_push(&l->users);
	vec_push(&l->blocks);
	vec_push(&l->flows);
	vec_push(&l->spots);
	vec_push(&l->marks);
}

static void grow(struct count_live *l, struct count_reader *r)
{
	const struct count_flow_input *in = &r->flow;
	size_t first = l->blocks.n ? 0 : 1; /* none has number 0 */

	if (first)
		begin(l);
	add_images(l, r);
	while (l->users_of.n < in->n_counters)
		vec_push(&l->users_of);
	for (size_t i = first; i < in->n_blocks; i++)
		add_block(l, &in->blocks[i], r->n_images);
	for (size_t i = 0; i < in->n_pairs; i++)
		add_pair(l, &in->pairs[i]);
	for (size_t i = 0; i < in->n_returns; i++)
		add_return(l, &in->returns[i]);
	l->tables.images = l->images.at;
	l->tables.n_images = l->images.n;
	l->tables.flow.blocks = l->blocks.at;
	l->tables.flow.n_blocks = l->blocks.n;
}

/* Telling. */

static void add(int64_t *to, int64_t n)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)n); /* foreign numbers wrap */
}

static struct count_live_flow *mark(struct count_live *l, uint32_t block)
{
	l->marks.at[block / MARK_BITS] |= UINT64_C(1) << block % MARK_BITS;
	return &l->flows.at[block];
}

/* What leaves a block makes up how often it was entered, but where it has a counter. */
static void leave(struct count_live *l, uint32_t block, int64_t n)
{
	struct count_live_flow *f = mark(l, block);

	if (!l->blocks.at[block].inside)
		add(&f->n, n);
}

static void tell_way(void *live, uint32_t what, int64_t n)
{
	struct count_live *l = live;

	if (what % N_KINDS == OF_RETURN)
		return;
	leave(l, what / N_KINDS, n);
	if (what % N_KINDS == OF_TO)
		add(&l->flows.at[what / N_KINDS].to, n);
}

static void tell_pair(struct count_live *l, uint32_t i, uint64_t n)
{
	uint32_t block = l->pairs.at[i].block;

	count_forest_flow(&l->forest, l->spots.at[block].behind, l->targets.at[i], n);
	leave(l, block, (int64_t)n);
	*vec_push(&l->taken) = (struct count_live_pair){ .pair = i, .times = n };
}

static void tell_of_block(struct count_live *l, uint32_t what, uint64_t n)
{
	uint32_t block = what / N_KINDS;
	const struct count_live_spot *s = &l->spots.at[block];

	if (what % N_KINDS == OF_INSIDE) {
		count_forest_flow(&l->forest, s->start, s->behind, n);
		mark(l, block)->n = (int64_t)n;
		return;
	}
	count_forest_flow(&l->forest, s->behind, what % N_KINDS == OF_ON ? s->on : s->to,
			  n);
	tell_way(l, what, (int64_t)n);
}

static void tell_user(struct count_live *l, uint32_t what, uint64_t n)
{
	uint32_t i = what / N_KINDS;

	if (what % N_KINDS == OF_PAIR)
		tell_pair(l, i, n);
	else if (what % N_KINDS == OF_RETURN)
		count_forest_flow(&l->forest, 0, l->spots.at[l->returns.at[i]].start, n);
	else
		tell_of_block(l, what, n);
}

static void tell_counters(struct count_live *l, const struct count_flow_input *in,
			  const uint8_t *touched)
{
	for (size_t i = 1; i < in->n_counters; i++) {
		if (!touched[i / COUNT_READER_CHUNK]) {
			i |= COUNT_READER_CHUNK - 1;
			continue;
		}
		if (!in->counters[i])
			continue;
		for (uint32_t u = l->users_of.at[i]; u; u = l->users.at[u].next)
			tell_user(l, l->users.at[u].what, in->counters[i]);
	}
}

static void tell_left(struct count_live *l, const struct count_file_extra *x)
{
	const struct count_file_block *b = &l->blocks.at[x->block];
	const struct count_live_spot *s = &l->spots.at[x->block];
	bool is_behind = !b->inside || x->addr - b->addr >= b->counted_at;

	count_forest_flow(&l->forest, is_behind ? s->behind : s->start, 0, x->n);
	if (!b->inside || x->addr - b->addr < b->counted_at)
		add(&mark(l, x->block)->n, (int64_t)x->n);
}

static void tell_extras(struct count_live *l, const struct count_flow_input *in)
{
	for (size_t i = 0; i < in->n_extras; i++) {
		const struct count_file_extra *x = &in->extras[i];

		if (x->kind == COUNT_EXTRA_ENTER)
			count_forest_flow(&l->forest, 0, part_at(l, x->nest, x->addr),
					  x->n);
		else if (has_block(l, x->block))
			tell_left(l, x);
		else if (!x->block)
			count_forest_flow(&l->forest, part_at(l, x->nest, x->addr), 0,
					  x->n);
	}
}

/* Of those that were left at once. */
static void tell_begun(struct count_live *l, const struct count_flow_input *in)
{
	own(count_insns_fini) struct count_insns insns = { 0 };
	struct count_flow_input all = { .blocks = l->blocks.at,
					.n_blocks = l->blocks.n,
					.extras = in->extras,
					.n_extras = in->n_extras };

	count_insns_init(&insns, &all);
	vec_each(i, &l->executed) {
		struct count_live_flow *f = &l->flows.at[*i];

		f->n = count_insns_begun(&insns, *i, f->n);
	}
}

static void list_executed(struct count_live *l)
{
	for (size_t i = 0; i < l->marks.n; i++)
		for (uint64_t bits = l->marks.at[i]; bits; bits &= bits - 1)
			*vec_push(&l->executed) = (uint32_t)(i * MARK_BITS) +
						  (uint32_t)__builtin_ctzll(bits);
	if (l->marks.n)
		memset(l->marks.at, 0, l->marks.n * sizeof(*l->marks.at));
}

static void forget_flows(struct count_live *l)
{
	vec_each(i, &l->executed)
		l->flows.at[*i] = (struct count_live_flow){ 0 };
	vec_clear(&l->executed);
	vec_clear(&l->taken);
}

static bool read_header(const struct count_window *w, struct count_file_header *ret)
{
	return w->size >= sizeof(*ret) && w->read(w->ctx, 0, ret, sizeof(*ret));
}

static bool is_known(const struct count_live *l, const struct count_file_header *h)
{
	return h->id.time_ns && !memcmp(&l->there.id, &h->id, sizeof(h->id)) &&
	       l->blocks.n == l->there.n_blocks;
}

int count_live_read(struct count_live *l, const struct count_window *w, struct err *e)
{
	own(count_reader_fini) struct count_reader r = { 0 };
	own(freep) uint8_t *touched = xcalloc(COUNT_READER_CHUNKS, sizeof(*touched));
	struct count_file_header h = { 0 };
	int rc;

	if (!read_header(w, &h) || !is_known(l, &h))
		count_live_fini(l);
	forget_flows(l);
	rc = count_reader_open_rest(w, &l->tables, &l->there, touched, &r, e);
	if (rc < 0) {
		count_live_fini(l);
		return rc;
	}
	l->pid = r.pid;
	grow(l, &r);
	l->there = (struct count_file_base){ h.id, h.images_bytes, h.n_blocks, h.n_pairs,
					     h.n_returns };
	tell_counters(l, &r.flow, touched);
	tell_extras(l, &r.flow);
	count_forest_tell(&l->forest, tell_way, l);
	list_executed(l);
	tell_begun(l, &r.flow);
	return 0;
}
