/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which a tally is written: by content, so that the same content gives the
 * same bytes, and so that what is alike lies together.  Events of time first, images by
 * path, locations by image and offset, stacks depth first with their callees by location,
 * samples by event, image of the innermost frame, thread and stack.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/tally_data.h"

/* What qsort_r compares by. */
struct context {
	const struct tally *t;
	struct tally_order *o;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_strings(const struct tally *t, uint32_t a, uint32_t b)
{
	size_t n = intern_len(t->strings, a), m = intern_len(t->strings, b);
	int order;

	if (a == b)
		return 0;
	order = memcmp(intern_get(t->strings, a), intern_get(t->strings, b),
		       n < m ? n : m);
	return order ? order : compare_u64(n, m);
}

static const void *item(const struct context *c, enum format_kind kind, const void *id)
{
	return record_list_get(&c->t->lists[kind], *(const uint32_t *)id);
}

static int compare_images(const void *a, const void *b, void *ctx)
{
	const struct context *c = ctx;
	const struct model_image *x = item(c, FORMAT_IMAGES, a);
	const struct model_image *y = item(c, FORMAT_IMAGES, b);
	int order = compare_strings(c->t, x->path, y->path);

	if (!order)
		order = compare_u64(x->kind, y->kind);
	if (!order)
		order = compare_u64(x->build_id_size, y->build_id_size);
	if (!order)
		order = memcmp(x->build_id, y->build_id, sizeof(x->build_id));
	if (!order)
		order = compare_u64(x->base, y->base);
	if (!order)
		order = compare_u64(x->pid, y->pid);
	if (!order)
		order = compare_u64(x->flags, y->flags);
	if (!order)
		order = compare_u64(x->mtime_s, y->mtime_s);
	return order ? order : compare_u64(x->size_bytes, y->size_bytes);
}

static int compare_processes(const void *a, const void *b, void *ctx)
{
	const struct context *c = ctx;
	const struct model_process *x = item(c, FORMAT_PROCESSES, a);
	const struct model_process *y = item(c, FORMAT_PROCESSES, b);
	const uint32_t texts[][2] = {
		{ x->host, y->host },	    { x->epoch, y->epoch },
		{ x->comm, y->comm },	    { x->exe, y->exe },
		{ x->cgroup, y->cgroup },   { x->note, y->note },
		{ x->cmdline, y->cmdline },
	};
	int order = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !order; i++)
		order = compare_strings(c->t, texts[i][0], texts[i][1]);
	if (!order)
		order = compare_u64(x->pid, y->pid);
	if (!order)
		order = compare_u64(x->ppid, y->ppid);
	return order ? order : compare_u64(x->flags, y->flags);
}

static int compare_threads(const void *a, const void *b, void *ctx)
{
	const struct context *c = ctx;
	const struct model_thread *x = item(c, FORMAT_THREADS, a);
	const struct model_thread *y = item(c, FORMAT_THREADS, b);
	int order = compare_u64(c->o->process[x->process], c->o->process[y->process]);

	if (!order)
		order = compare_strings(c->t, x->name, y->name);
	return order ? order : compare_u64(x->tid, y->tid);
}

static bool is_time(const struct tally *t, const struct model_event *ev)
{
	return strcmp(intern_get(t->strings, ev->unit), "ns") == 0;
}

/* Time is what reports show first. */
static int compare_events(const void *a, const void *b, void *ctx)
{
	const struct context *c = ctx;
	const struct model_event *x = item(c, FORMAT_EVENTS, a);
	const struct model_event *y = item(c, FORMAT_EVENTS, b);
	int order = compare_u64(!is_time(c->t, x), !is_time(c->t, y));

	if (!order)
		order = compare_strings(c->t, x->name, y->name);
	if (!order)
		order = compare_strings(c->t, x->experiment, y->experiment);
	if (!order)
		order = compare_strings(c->t, x->unit, y->unit);
	if (!order)
		order = compare_u64(x->flags, y->flags);
	return order ? order : compare_u64(x->period, y->period);
}

static int compare_locations(const void *a, const void *b, void *ctx)
{
	const struct context *c = ctx;
	const struct model_location *x = &c->t->locations.all.at[*(const uint32_t *)a];
	const struct model_location *y = &c->t->locations.all.at[*(const uint32_t *)b];
	int order = compare_u64(c->o->image[x->image], c->o->image[y->image]);

	if (!order)
		order = compare_u64(x->offset, y->offset);
	return order ? order : compare_u64(x->flags, y->flags);
}

/* The ids in use (their rank is not MODEL_NONE), in order, and then their ranks. */
static void rank_ids(struct context *c, size_t n, struct tally_ids *ids, uint32_t *rank,
		     int (*compare)(const void *, const void *, void *))
{
	for (uint32_t i = 0; i < n; i++)
		if (rank[i] != MODEL_NONE)
			*vec_push(ids) = i;
	if (ids->n)
		qsort_r(ids->at, ids->n, sizeof(*ids->at), compare, c);
	for (uint32_t i = 0; i < ids->n; i++)
		rank[ids->at[i]] = i;
}

static uint32_t *unused_ids(size_t n)
{
	uint32_t *rank = xcalloc(n + 1, sizeof(*rank));

	memset(rank, 0xff, (n + 1) * sizeof(*rank));
	return rank;
}

static void mark_used(const struct tally *t, struct tally_order *o)
{
	const struct model_stack *stacks = t->stacks.fresh.at;

	o->stack[0] = 0;
	vec_each(row, &t->rows) {
		const struct tally_group *g = &t->groups.at[row->group];

		o->stack[row->stack] = 0;
		o->thread[g->thread] = 0;
	}
	for (uint32_t i = t->stacks.n; i > 0; i--) {
		if (o->stack[i] == MODEL_NONE)
			continue;
		o->stack[stacks[i - 1].parent] = 0;
		o->location[stacks[i - 1].location] = 0;
	}
	tally_code_mark(&t->code, o);
	for (size_t i = 0; i < t->locations.all.n; i++)
		if (o->location[i] != MODEL_NONE)
			o->image[t->locations.all.at[i].image] = 0;
	vec_each(b, &t->blobs)
		if (b->blob.image != MODEL_NONE)
			o->image[b->blob.image] = 0;
	for (uint32_t i = 0; i < t->lists[FORMAT_THREADS].n; i++) {
		const struct model_thread *thread =
			record_list_get(&t->lists[FORMAT_THREADS], i);

		if (o->thread[i] != MODEL_NONE)
			o->process[thread->process] = 0;
	}
	for (uint32_t i = 0; i < t->lists[FORMAT_FACTS].n; i++) {
		const struct model_fact *fact =
			record_list_get(&t->lists[FORMAT_FACTS], i);

		if (fact->process != MODEL_NONE)
			o->process[fact->process] = 0;
	}
	/* An event without samples says that nothing of it was seen. */
	memset(o->event, 0, t->lists[FORMAT_EVENTS].n * sizeof(*o->event));
}

/* Children by location, from lists that are made back to front: first of a parent, next
 * of the same parent. */
static void rank_stacks(const struct tally *t, struct tally_order *o)
{
	const struct model_stack *stacks = t->stacks.fresh.at;
	const uint32_t n = t->stacks.n;
	own(freep) uint32_t *first = xcalloc((size_t)n + 1, sizeof(*first));
	own(freep) uint32_t *next = xcalloc((size_t)n + 1, sizeof(*next));
	own(freep) uint32_t *head = xcalloc(o->locations.n + 1, sizeof(*head));

	/* By location: a list per rank; then from the last rank on in front of the
	 * children of their parents. */
	for (uint32_t i = n; i > 0; i--) {
		if (o->stack[i] == MODEL_NONE)
			continue;

		uint32_t *at = &head[o->location[stacks[i - 1].location]];

		next[i] = *at;
		*at = i;
	}
	for (size_t rank = o->locations.n; rank-- > 0;) {
		for (uint32_t i = head[rank], after; i; i = after) {
			uint32_t parent = stacks[i - 1].parent;

			after = next[i];
			next[i] = first[parent];
			first[parent] = i;
		}
	}

	uint32_t at = 0;

	for (;;) {
		if (first[at]) {
			at = first[at];
		} else {
			while (at && !next[at])
				at = stacks[at - 1].parent;
			if (!at)
				break;
			at = next[at];
		}
		*vec_push(&o->stacks) = at;
		o->stack[at] = (uint32_t)o->stacks.n;
	}
}

/* A row's key, so that comparing does not go through five tables. */
struct sort_row {
	uint64_t block;	 /* event, image */
	uint64_t thread; /* thread, cpu */
	uint32_t stack, row;
};

static int compare_rows(const void *a, const void *b)
{
	const struct sort_row *x = a, *y = b;
	int order = compare_u64(x->block, y->block);

	if (!order)
		order = compare_u64(x->thread, y->thread);
	if (!order)
		order = compare_u64(x->stack, y->stack);
	return order;
}

static void rank_rows(const struct tally *t, struct tally_order *o)
{
	own(freep) struct sort_row *keys = xcalloc(t->rows.n + 1, sizeof(*keys));

	for (size_t i = 0; i < t->rows.n; i++) {
		const struct tally_row *row = &t->rows.at[i];
		const struct tally_group *g = &t->groups.at[row->group];
		uint32_t image = tally_leaf_image(t, row->stack);

		image = image == MODEL_NONE ? MODEL_NONE : o->image[image];
		keys[i] = (struct sort_row){
			.block = (uint64_t)o->event[g->event] << 32 | image,
			.thread = (uint64_t)o->thread[g->thread] << 32 | g->cpu,
			.stack = o->stack[row->stack],
			.row = (uint32_t)i,
		};
	}
	qsort(keys, t->rows.n, sizeof(*keys), compare_rows);
	vec_reserve(&o->rows, t->rows.n + 1);
	for (size_t i = 0; i < t->rows.n; i++)
		*vec_push(&o->rows) = keys[i].row;
}

static void init(struct tally_order *o, const struct tally *t)
{
	*o = (struct tally_order){
		.image = unused_ids(t->lists[FORMAT_IMAGES].n),
		.process = unused_ids(t->lists[FORMAT_PROCESSES].n),
		.thread = unused_ids(t->lists[FORMAT_THREADS].n),
		.event = unused_ids(t->lists[FORMAT_EVENTS].n),
		.location = unused_ids(t->locations.all.n),
		.stack = unused_ids(t->stacks.n),
	};
}

static void rank_front(struct tally_order *o, const struct tally *t)
{
	struct context c = { t, o };

	rank_ids(&c, t->lists[FORMAT_IMAGES].n, &o->images, o->image, compare_images);
	rank_ids(&c, t->lists[FORMAT_PROCESSES].n, &o->processes, o->process,
		 compare_processes);
	rank_ids(&c, t->lists[FORMAT_THREADS].n, &o->threads, o->thread, compare_threads);
	rank_ids(&c, t->lists[FORMAT_EVENTS].n, &o->events, o->event, compare_events);
	rank_ids(&c, t->locations.all.n, &o->locations, o->location, compare_locations);
}

void tally_order_init(struct tally_order *o, const struct tally *t)
{
	init(o, t);
	mark_used(t, o);
	rank_front(o, t);
	rank_stacks(t, o);
	rank_rows(t, o);
}

void tally_order_init_front(struct tally_order *o, const struct tally *t)
{
	init(o, t);
	memset(o->image, 0, t->lists[FORMAT_IMAGES].n * sizeof(*o->image));
	memset(o->process, 0, t->lists[FORMAT_PROCESSES].n * sizeof(*o->process));
	memset(o->thread, 0, t->lists[FORMAT_THREADS].n * sizeof(*o->thread));
	memset(o->event, 0, t->lists[FORMAT_EVENTS].n * sizeof(*o->event));
	memset(o->location, 0, t->locations.all.n * sizeof(*o->location));
	rank_front(o, t);
}

void tally_order_fini(struct tally_order *o)
{
	free(o->image);
	free(o->process);
	free(o->thread);
	free(o->event);
	free(o->location);
	free(o->stack);
	vec_fini(&o->images);
	vec_fini(&o->processes);
	vec_fini(&o->threads);
	vec_fini(&o->events);
	vec_fini(&o->locations);
	vec_fini(&o->stacks);
	vec_fini(&o->rows);
}
