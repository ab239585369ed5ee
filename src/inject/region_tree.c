/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/region_tree.h"

/* Behind the last of a list of dirty nodes. */
#define LAST (REGION_TREE_CLEAN - 1)
/* Frames further apart than this are on different stacks, perhaps. */
#define NEAR_BYTES 65536

static void touch(struct region_tree *t, uint32_t i)
{
	struct region_node *n = &t->nodes[i];

	if (__builtin_expect(n->next_dirty != REGION_TREE_CLEAN, 1))
		return;
	n->next_dirty = LAST;
	if (t->first_dirty == REGION_TREE_CLEAN)
		t->first_dirty = i;
	else
		t->nodes[t->last_dirty].next_dirty = i;
	t->last_dirty = i;
}

uint32_t region_tree_take_dirty(struct region_tree *t)
{
	uint32_t i = t->first_dirty;

	if (i == REGION_TREE_CLEAN)
		return i;
	t->first_dirty = t->nodes[i].next_dirty == LAST ? REGION_TREE_CLEAN
							: t->nodes[i].next_dirty;
	t->nodes[i].next_dirty = REGION_TREE_CLEAN;
	return i;
}

void region_tree_init(struct region_tree *t, uint64_t now)
{
	t->last = now;
	t->depth = 1;
	t->n_nodes = 1;
	t->first_dirty = REGION_TREE_CLEAN;
	t->n_beyond = t->n_unmatched = t->n_cut = t->n_refused = 0;
	t->active[0] = (struct region_activation){ .start = now };
	t->nodes[0] = (struct region_node){ .next_dirty = REGION_TREE_CLEAN };
}

static struct region_activation *top(struct region_tree *t)
{
	return &t->active[t->active[t->depth - 1].live];
}

/* Clocks of two CPUs may differ by little: time does not go back. */
static inline void pass(struct region_tree *t, uint64_t now)
{
	struct region_activation *a = top(t);
	uint64_t passed = now - t->last;

	if (__builtin_expect((int64_t)passed <= 0, 0))
		return;
	t->last = now;
	a->exclusive += passed;
	t->nodes[a->node].exclusive += passed;
	touch(t, a->node);
}

void region_tree_pass(struct region_tree *t, uint64_t now)
{
	pass(t, now);
}

static uint32_t hash(uint64_t key)
{
	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % REGION_TREE_SLOTS;
}

static uint32_t *slot_of(struct region_tree *t, uint32_t parent, uint32_t region)
{
	uint32_t i = hash((uint64_t)parent << 32 | region);

	for (;; i = (i + 1) % REGION_TREE_SLOTS) {
		const struct region_node *n = &t->nodes[t->slots[i]];

		if (!t->slots[i] || (n->parent == parent && n->region == region))
			return &t->slots[i];
	}
}

static uint32_t newest_at(const struct region_tree *t, uint32_t region)
{
	uint32_t i = hash(region);

	while (t->newest[i] && t->nodes[t->newest[i]].region != region)
		i = (i + 1) % REGION_TREE_SLOTS;
	return i;
}

static bool is_within_itself(const struct region_tree *t, uint32_t parent,
			     uint32_t region)
{
	for (uint32_t i = parent; i; i = t->nodes[i].parent)
		if (t->nodes[i].region == region)
			return true;
	return false;
}

/* 0: there is no room. */
static __attribute__((noinline)) uint32_t find_or_make(struct region_tree *t,
						       uint32_t parent, uint32_t region)
{
	uint32_t *slot = slot_of(t, parent, region);
	uint32_t *newest = &t->newest[newest_at(t, region)];

	if (*slot)
		return *slot;
	if (t->n_nodes == REGION_TREE_NODES_MAX)
		return 0;
	t->nodes[t->n_nodes] = (struct region_node){
		.parent = parent,
		.region = region,
		.alike = *newest,
		.next_dirty = REGION_TREE_CLEAN,
		.is_nested = is_within_itself(t, parent, region),
	};
	*slot = *newest = t->n_nodes;
	return t->n_nodes++;
}

static inline uint32_t child_of(struct region_tree *t, uint32_t parent, uint32_t region)
{
	uint32_t last = t->nodes[parent].last;

	if (__builtin_expect(last && t->nodes[last].region == region, 1))
		return last;
	last = find_or_make(t, parent, region);
	if (last)
		t->nodes[parent].last = last;
	return last;
}

static bool has_depth(struct region_tree *t)
{
	if (__builtin_expect(t->depth < REGION_TREE_DEPTH_MAX, 1))
		return true;
	t->n_beyond++;
	t->n_refused++;
	return false;
}

/* Of what begins now. */
static inline uint32_t told_with(const struct region_tree *t,
				 const struct region_frame *f)
{
	return f ? t->depth : t->active[t->depth - 1].told;
}

static inline struct region_frame frame_of(const struct region_frame *f)
{
	return f ? *f : (struct region_frame){ 0 };
}

void region_tree_begin_muted(struct region_tree *t, uint32_t region,
			     const struct region_frame *frame)
{
	uint32_t live;

	if (!has_depth(t))
		return;
	t->n_refused += !region;
	live = t->active[t->depth - 1].live;
	t->active[t->depth] = (struct region_activation){
		.node = t->active[live].node,
		.live = live,
		.region = region,
		.told = told_with(t, frame),
		.frame = frame_of(frame),
	};
	t->depth++;
}

void region_tree_begin(struct region_tree *t, uint32_t region, uint64_t now,
		       const struct region_frame *frame)
{
	uint32_t parent, node;

	pass(t, now);
	parent = top(t)->node;
	node = child_of(t, parent, region);
	if (__builtin_expect(!node, 0)) {
		t->n_refused++;
		region_tree_begin_muted(t, region, frame);
		return;
	}
	if (!has_depth(t))
		return;
	t->nodes[node].calls++;
	t->nodes[parent].subroutines++;
	touch(t, node);
	t->active[t->depth] = (struct region_activation){ .node = node,
							  .live = t->depth,
							  .region = region,
							  .told = told_with(t, frame),
							  .start = t->last,
							  .frame = frame_of(frame) };
	t->depth++;
}

/* Time has passed until t->last. */
static inline void pop(struct region_tree *t)
{
	const struct region_activation *a = &t->active[--t->depth];

	if (a->live == t->depth)
		t->nodes[a->node].inclusive += t->last - a->start;
}

static void end_from(struct region_tree *t, uint32_t i)
{
	while (t->depth > i + 1) {
		t->n_cut++;
		pop(t);
	}
	pop(t);
}

static __attribute__((noinline)) bool end_outer(struct region_tree *t, uint32_t region,
						uintptr_t back)
{
	uint32_t i = t->depth;

	while (--i && !region_tree_is(&t->active[i], region, back))
		;
	if (i) {
		end_from(t, i);
		return true;
	}
	if (back)
		return end_outer(t, region, 0);
	t->n_unmatched++;
	return false;
}

static inline bool end(struct region_tree *t, uint32_t region, uintptr_t back,
		       uint64_t now)
{
	if (__builtin_expect(t->n_beyond, 0)) {
		t->n_beyond--;
		return true;
	}
	pass(t, now);
	if (__builtin_expect(t->depth > 1 && region_tree_is(&t->active[t->depth - 1],
							    region, back),
			     1)) {
		pop(t);
		return true;
	}
	return end_outer(t, region, back);
}

bool region_tree_end(struct region_tree *t, uint32_t region, uint64_t now)
{
	return end(t, region, 0, now);
}

bool region_tree_return(struct region_tree *t, uint32_t region, uintptr_t back,
			uint64_t now)
{
	return end(t, region, back, now);
}

/* In the same place another frame returns to elsewhere; or it is the same function's that
 * begins again, where it has begun before. */
static inline bool is_gone(const struct region_frame *f, const struct region_frame *now)
{
	if (__builtin_expect(!f->place || f->place > now->place, 1))
		return false;
	return f->place < now->place || f->back != now->back || f->at == now->at;
}

void region_tree_unwind(struct region_tree *t, const struct region_frame *frame,
			uint64_t now)
{
	uint32_t i = t->active[t->depth - 1].told;
	const struct region_frame *f = &t->active[i].frame;

	if (__builtin_expect(!is_gone(f, frame), 1))
		return;
	pass(t, now);
	while (is_gone(f, frame) && frame->place - f->place < NEAR_BYTES) {
		t->n_cut++;
		t->n_beyond = 0; /* they were further in */
		end_from(t, i);
		i = t->active[t->depth - 1].told;
		f = &t->active[i].frame;
	}
}

void region_tree_count(struct region_tree *t, uint32_t counter, uint64_t n)
{
	uint32_t node = child_of(t, top(t)->node, counter);

	if (!node) {
		t->n_refused++;
		return;
	}
	t->nodes[node].calls++;
	t->nodes[node].exclusive += n;
	touch(t, node);
}

void region_tree_restart(struct region_tree *t, uint64_t now)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct region_node *n = &t->nodes[i];

		n->calls = n->subroutines = n->exclusive = n->inclusive = 0;
		n->next_dirty = REGION_TREE_CLEAN;
	}
	t->first_dirty = REGION_TREE_CLEAN;
	t->last = now;
	t->n_unmatched = t->n_cut = t->n_refused = 0;
	for (uint32_t i = 0; i < t->depth; i++) {
		t->active[i].start = now;
		t->active[i].exclusive = 0;
		touch(t, t->active[i].node);
	}
}

/* All activations of the region, of those that are active as if they ended now. */
static void sum_up(const struct region_tree *t, struct region_slice *s)
{
	uint32_t outermost = 1;

	for (uint32_t i = t->newest[newest_at(t, s->region)]; i; i = t->nodes[i].alike) {
		const struct region_node *n = &t->nodes[i];

		s->calls += n->calls;
		s->subroutines += n->subroutines;
		s->exclusive += n->exclusive;
		s->inclusive += n->is_nested ? 0 : n->inclusive;
	}
	while (t->active[outermost].live != outermost ||
	       t->active[outermost].region != s->region)
		outermost++;
	s->inclusive += t->last - t->active[outermost].start;
}

uint32_t region_tree_n_slices(const struct region_tree *t)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->depth; i++)
		n += t->active[i].live == i;
	return n;
}

uint32_t region_tree_slices(const struct region_tree *t, uint32_t skip,
			    struct region_slice *ret, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->depth && n < max; i++) {
		const struct region_activation *a = &t->active[i];
		struct region_slice *s = &ret[n];

		if (a->live != i || (skip && skip--))
			continue;
		*s = (struct region_slice){
			.region = a->region,
			.node = a->node,
			.instance_exclusive = a->exclusive,
			.instance_inclusive = t->last - a->start,
		};
		sum_up(t, s);
		n++;
	}
	return n;
}
