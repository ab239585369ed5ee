/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stream.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* One of the two buffers: being decoded or being used, never both. */
struct half {
	struct sample_block block;
	int rc;
	struct err err;
	bool is_full;
};

struct stream {
	struct input *source;
	unsigned columns;
	size_t *blocks, n_blocks; /* those worth reading */
	struct half halves[2];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
};

static void *decode(void *arg)
{
	struct stream *st = arg;

	for (size_t i = 0; i < st->n_blocks; i++) {
		struct half *h = &st->halves[i % 2];

		pthread_mutex_lock(&st->lock);
		while (h->is_full && !st->stop)
			pthread_cond_wait(&st->changed, &st->lock);

		bool stop = st->stop;

		pthread_mutex_unlock(&st->lock);
		if (stop)
			break;
		h->rc = recording_read_samples(st->source->recording, st->blocks[i],
					       st->columns, &h->block, &h->err);
		pthread_mutex_lock(&st->lock);
		h->is_full = true;
		pthread_cond_broadcast(&st->changed);
		pthread_mutex_unlock(&st->lock);
	}
	return NULL;
}

static void note_bad_block(struct input *s, const struct err *e)
{
	if (!s->n_bad_blocks++)
		snprintf(s->bad_block, sizeof(s->bad_block), "%.150s", e->text);
}

/* Memory of what is worked out for a block. */
struct scratch {
	uint8_t *keep, *keep_ideal;
	uint32_t *event;
	uint64_t *weight;
	size_t cap;
	double rest; /* of weights, what was not whole */
};

static void scratch_fini(struct scratch *x)
{
	free(x->keep);
	free(x->keep_ideal);
	free(x->event);
	free(x->weight);
}

static void scratch_reserve(struct scratch *x, size_t n)
{
	if (n <= x->cap)
		return;
	x->cap = n;
	x->keep = xrealloc(x->keep, n, sizeof(*x->keep));
	x->keep_ideal = xrealloc(x->keep_ideal, n, sizeof(*x->keep_ideal));
	x->event = xrealloc(x->event, n, sizeof(*x->event));
	x->weight = xrealloc(x->weight, n, sizeof(*x->weight));
}

/* Counted instructions once more, as the time that they take. */
static int use_ideal(const struct input *s, const struct sample_block *b,
		     const uint8_t *keep, struct scratch *x, stream_fn *fn, void *ctx,
		     struct err *e)
{
	struct sample_block ideal = *b;

	for (size_t i = 0; i < b->n; i++) {
		uint32_t location = s->stacks[b->stack[i]].location;

		x->event[i] = recording_n_events(s->recording);
		x->weight[i] = 0;
		x->keep_ideal[i] = (!keep || keep[i]) && b->event[i] == s->counted_event;
		if (!x->keep_ideal[i] || !b->stack[i])
			continue;
		x->rest += (double)b->weight[i] * s->ideal_factors[location];
		x->weight[i] = (uint64_t)x->rest;
		x->rest -= (double)x->weight[i];
	}
	ideal.event = x->event;
	ideal.weight = x->weight;
	return fn(ctx, &ideal, x->keep_ideal, e);
}

static int use(struct stream *st, struct half *h, const struct filter_binding *filter,
	       struct scratch *x, stream_fn *fn, void *ctx, struct err *e)
{
	const struct sample_block *b = &h->block;
	const uint8_t *keep = NULL;
	int rc;

	if (h->rc < 0) {
		note_bad_block(st->source, &h->err);
		return 0;
	}
	if (filter || st->source->ideal_factors)
		scratch_reserve(x, b->n);
	if (filter) {
		filter_apply(filter, b, x->keep);
		keep = x->keep;
	}
	rc = fn(ctx, b, keep, e);
	if (rc == 0 && st->source->ideal_factors)
		rc = use_ideal(st->source, b, keep, x, fn, ctx, e);
	return rc;
}

static int use_all(struct stream *st, const struct filter_binding *filter, stream_fn *fn,
		   void *ctx, struct err *e)
{
	own(scratch_fini) struct scratch x = { 0 };
	int rc = 0;

	for (size_t i = 0; i < st->n_blocks && rc == 0; i++) {
		struct half *h = &st->halves[i % 2];

		pthread_mutex_lock(&st->lock);
		while (!h->is_full)
			pthread_cond_wait(&st->changed, &st->lock);
		pthread_mutex_unlock(&st->lock);
		rc = use(st, h, filter, &x, fn, ctx, e);
		pthread_mutex_lock(&st->lock);
		h->is_full = false;
		st->stop = rc != 0;
		pthread_cond_broadcast(&st->changed);
		pthread_mutex_unlock(&st->lock);
	}
	return rc;
}

static void choose_blocks(struct stream *st, const struct filter_binding *filter)
{
	const struct recording *r = st->source->recording;
	size_t n = recording_n_sample_blocks(r);
	uint64_t from = 0, to = UINT64_MAX;

	if (filter)
		filter_time_range(filter, &from, &to);
	st->blocks = xcalloc(n ? n : 1, sizeof(size_t));
	for (size_t i = st->source->first_block; i < n; i++) {
		uint64_t first, last;
		size_t n_samples;

		recording_sample_block_range(r, i, &first, &last, &n_samples);
		/* Without times both are 0: such samples have no place in time. */
		if ((first || last) && (last < from || first > to))
			continue;
		st->blocks[st->n_blocks++] = i;
	}
}

/* Without a second thread the block is decoded in the caller's. */
static int use_in_turn(struct stream *st, const struct filter_binding *filter,
		       stream_fn *fn, void *ctx, struct err *e)
{
	own(scratch_fini) struct scratch x = { 0 };
	struct half *h = &st->halves[0];
	int rc = 0;

	for (size_t i = 0; i < st->n_blocks && rc == 0; i++) {
		h->rc = recording_read_samples(st->source->recording, st->blocks[i],
					       st->columns, &h->block, &h->err);
		rc = use(st, h, filter, &x, fn, ctx, e);
	}
	return rc;
}

int stream_samples(struct input *s, const struct filter_binding *filter, unsigned columns,
		   stream_fn *fn, void *ctx, struct err *e)
{
	struct stream st = { .source = s, .columns = columns };
	pthread_t thread;
	int rc;

	if (filter)
		st.columns |= filter_columns(filter);
	if (s->ideal_factors)
		st.columns |= SAMPLE_EVENT | SAMPLE_STACK | SAMPLE_WEIGHT;
	choose_blocks(&st, filter);
	pthread_mutex_init(&st.lock, NULL);
	pthread_cond_init(&st.changed, NULL);
	if (st.n_blocks > 1 && pthread_create(&thread, NULL, decode, &st) == 0) {
		rc = use_all(&st, filter, fn, ctx, e);
		pthread_join(thread, NULL);
	} else {
		rc = use_in_turn(&st, filter, fn, ctx, e);
	}
	pthread_cond_destroy(&st.changed);
	pthread_mutex_destroy(&st.lock);
	sample_block_fini(&st.halves[0].block);
	sample_block_fini(&st.halves[1].block);
	free(st.blocks);
	return rc;
}
