/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/heap_growth.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/frame_path.h"
#include "analyze/heap_places.h"
#include "analyze/profile_data.h"
#include "analyze/stream.h"
#include "base/map.h"
#include "base/mem.h"

int64_t heap_growth_net_bytes(const struct heap_growth_place *x)
{
	return (int64_t)(x->bytes[HEAP_GROWTH_TAKEN] - x->bytes[HEAP_GROWTH_GIVEN]);
}

int64_t heap_growth_net_blocks(const struct heap_growth_place *x)
{
	return (int64_t)(x->blocks[HEAP_GROWTH_TAKEN] - x->blocks[HEAP_GROWTH_GIVEN]);
}

/* One recording. */
struct reading {
	struct heap_growth *to;
	const struct profile *p;
	struct input *s;
	size_t source;
	const struct heap_between *between;
	const struct filter_binding *filter; /* or NULL */
	struct map places;		     /* by stack */
	uint32_t bytes_column, calls_column; /* of what was taken */
};

static void reading_fini(struct reading *in)
{
	map_fini(&in->places);
}

static struct heap_growth_place *place_of(struct reading *in, uint32_t stack)
{
	bool is_new;
	uint64_t *i = map_slot(&in->places, stack, &is_new);

	if (is_new) {
		*i = in->to->all.n;
		*vec_push(&in->to->all) =
			(struct heap_growth_place){ .source = in->source,
						    .stack = stack };
	}
	return &in->to->all.at[*i];
}

static void add(struct reading *in, uint32_t stack, enum heap_growth_sum sum,
		uint64_t blocks, uint64_t bytes)
{
	struct heap_growth_place *x = place_of(in, stack), *total = &in->to->total;

	x->blocks[sum] += blocks;
	x->bytes[sum] += bytes;
	total->blocks[sum] += blocks;
	total->bytes[sum] += bytes;
}

static bool is_between(const struct reading *in, uint64_t time_ns)
{
	return time_ns >= in->between->from.time_ns && time_ns < in->between->to.time_ns;
}

static int take_samples(void *ctx, const struct sample_block *b, const uint8_t *keep,
			struct err *e)
{
	struct reading *in = ctx;

	(void)e;
	for (size_t i = 0; i < b->n; i++) {
		uint32_t column = in->s->column_of_event[b->event[i]];

		if ((keep && !keep[i]) || !is_between(in, b->time_ns[i]))
			continue;
		if (column == in->bytes_column)
			add(in, b->stack[i], HEAP_GROWTH_TAKEN, 0, b->weight[i]);
		else if (column == in->calls_column)
			add(in, b->stack[i], HEAP_GROWTH_TAKEN, b->weight[i], 0);
	}
	return 0;
}

/* A release as the filter sees samples. */
static bool passes(const struct reading *in, const struct model_trace *t, uint32_t event)
{
	struct sample_block one = { .n = 1,
				    .time_ns = &t->time_ns,
				    .weight = &t->values[2],
				    .event = &event,
				    .thread = &t->thread,
				    .cpu = &t->cpu,
				    .stack = &t->stack,
				    .count = &(uint32_t){ 1 } };
	uint8_t keep = 1;

	if (in->filter)
		filter_apply(in->filter, &one, &keep);
	return keep;
}

static bool is_release(const struct recording *r, const struct model_trace_type *type)
{
	static const char *const names[] = { "taken-from", "given-blocks", "given" };

	for (uint32_t i = 0; i < 3; i++)
		if (i >= type->n_columns ||
		    strcmp(recording_string(r, type->columns[i].name), names[i]) != 0)
			return false;
	return type->n_columns == 3;
}

static int take_release(void *ctx, const struct model_trace *t, struct err *e)
{
	struct reading *in = ctx;
	const struct recording *r = in->s->recording;
	const struct model_trace_type *type = recording_trace_type(r, t->trace_type);

	(void)e;
	if (!type || !is_release(r, type) || t->stack >= recording_n_stacks(r) ||
	    !is_between(in, t->time_ns) || !passes(in, t, type->event))
		return 0;
	add(in, t->stack, HEAP_GROWTH_GIVEN, t->values[1], t->values[2]);
	if (is_between(in, t->values[0]))
		add(in, t->stack, HEAP_GROWTH_YOUNG, t->values[1], t->values[2]);
	return 0;
}

/* Of the source's own; MODEL_NONE: it has none. */
static uint32_t column_of(const struct reading *in, const char *event)
{
	for (uint32_t i = 0; i < in->s->n_columns; i++)
		if (strcmp(profile_column(in->p, in->s->first_column + i)->name, event) ==
		    0)
			return i;
	return MODEL_NONE;
}

static int read_source(struct heap_growth *g, const struct profile *p, size_t source,
		       const struct heap_between *between, struct err *e)
{
	/* As profile_each_sample does: a block that cannot be read was counted. */
	struct input s = p->sources[source];
	own(filter_binding_freep) struct filter_binding *filter =
		p->filter ? filter_bind(p->filter, p, &s) : NULL;
	own(reading_fini) struct reading in = { .to = g,
						.p = p,
						.s = &s,
						.source = source,
						.between = between,
						.filter = filter };
	int rc;

	in.bytes_column = column_of(&in, "allocated-bytes");
	in.calls_column = column_of(&in, "allocations");
	rc = stream_samples(&s, filter, SAMPLE_ALL, take_samples, &in, e);
	return rc < 0 ? rc : recording_each_trace(s.recording, take_release, &in, e);
}

static void add_up(struct heap_growth_place *to, const struct heap_growth_place *x)
{
	for (unsigned i = 0; i < HEAP_GROWTH_SUMS; i++) {
		to->blocks[i] += x->blocks[i];
		to->bytes[i] += x->bytes[i];
	}
}

static void join_places(struct heap_growth *g, const struct profile *p)
{
	own(frame_path_fini) struct frame_path path = { 0 };
	own(map_fini) struct map by_key = { 0 };
	size_t n = 0;

	vec_each(x, &g->all) {
		uint64_t key, *i;
		bool is_new;

		frame_path_fill(&path, p, &p->sources[x->source], x->stack);
		key = heap_places_key(path.frames.at, path.frames.n);
		i = map_slot(&by_key, hash_pair(x->source, key), &is_new);
		if (!is_new) {
			add_up(&g->all.at[*i], x);
			continue;
		}
		*i = n;
		g->all.at[n++] = *x;
	}
	g->all.n = n;
}

/* Of what is estimated a release may be more than what was taken. */
static uint64_t left_of(const uint64_t sums[HEAP_GROWTH_SUMS])
{
	uint64_t taken = sums[HEAP_GROWTH_TAKEN], given = sums[HEAP_GROWTH_YOUNG];

	return taken > given ? taken - given : 0;
}

static void keep(struct heap_growth *g)
{
	vec_each(x, &g->all) {
		x->kept_bytes = left_of(x->bytes);
		x->kept_blocks = left_of(x->blocks);
		g->total.kept_bytes += x->kept_bytes;
		g->total.kept_blocks += x->kept_blocks;
	}
}

/* Who kept most; of who kept nothing, who grew most. */
static int by_kept(const void *a, const void *b)
{
	const struct heap_growth_place *x = a, *y = b;
	uint64_t p = x->kept_bytes, q = y->kept_bytes;
	int64_t n = heap_growth_net_bytes(x), m = heap_growth_net_bytes(y);

	if (p != q)
		return p < q ? 1 : -1;
	if (n != m)
		return n < m ? 1 : -1;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

static void fill_frames(struct heap_growth_place *x, const struct profile *p)
{
	own(frame_path_fini) struct frame_path path = { 0 };

	frame_path_fill(&path, p, &p->sources[x->source], x->stack);
	x->n_frames = path.frames.n;
	x->frames = xcalloc(x->n_frames + 1, sizeof(*x->frames));
	for (size_t i = 0; i < x->n_frames; i++)
		x->frames[i] = path.frames.at[x->n_frames - 1 - i];
}

/* What is given back is a sum of its own, to be chosen as what was taken is. */
static int check_filter(const struct filter *f, struct err *e)
{
	static const char *const unfit[] = { "time",  "interval", "mark",
					     "cause", "event",	  "weight" };

	for (size_t i = 0; f && i < sizeof(unfit) / sizeof(unfit[0]); i++)
		if (filter_asks_for(f, unfit[i]))
			return err_set(e, ERR_USAGE,
				       "--between chooses by time itself: a filter for "
				       "it may ask for threads and code, not for '%s'",
				       unfit[i]);
	return 0;
}

int heap_growth_load(struct heap_growth *g, const struct profile *p,
		     const struct heap_between *between, size_t limit, struct err *e)
{
	int rc = check_filter(p->filter, e);

	for (size_t i = 0; i < p->n_sources && rc == 0; i++)
		rc = read_source(g, p, i, &between[i], e);
	if (rc < 0)
		return rc;
	join_places(g, p);
	keep(g);
	if (g->all.n)
		qsort(g->all.at, g->all.n, sizeof(*g->all.at), by_kept);
	for (size_t i = 0; i < g->all.n && (!limit || i < limit); i++)
		fill_frames(&g->all.at[i], p);
	return 0;
}

void heap_growth_fini(struct heap_growth *g)
{
	vec_each(x, &g->all)
		free(x->frames);
	vec_fini(&g->all);
}
