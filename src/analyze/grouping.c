/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/grouping.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/derived.h"
#include "analyze/profile_data.h"
#include "analyze/stream.h"
#include "base/mem.h"

struct row {
	uint64_t key;
	uint32_t frame; /* one that has the key, MODEL_NONE when none */
};

struct grouping {
	const struct dimension *dimension;
	struct dimension_context context;
	struct metrics metrics;
	bool is_shared;	       /* keys are those of shared names */
	struct map shared_key; /* of a recording's own key, + 1 */
	struct map row_of_key; /* row + 1 */
	VEC(struct row) rows;
	VEC(uint64_t) weights; /* while samples are summed: [row * n_columns + column] */
	VEC(uint64_t) counts;
};

static uint32_t row_of(struct grouping *g, uint64_t key)
{
	bool is_new;
	uint64_t *row = map_slot(&g->row_of_key, key, &is_new);

	if (is_new) {
		*vec_push(&g->rows) = (struct row){ key, MODEL_NONE };
		*row = g->rows.n;
	}
	return (uint32_t)*row - 1;
}

/* What several recordings may have in common, composed once for each of their keys. */
static uint64_t shared(struct grouping *g, uint64_t key)
{
	if (!g->is_shared)
		return key;

	uint64_t *known = map_slot(&g->shared_key, key, NULL);

	if (!*known) {
		own(buf_fini) struct buf name = { 0 };

		g->dimension->shared_name(&g->context, key, &name);
		*known = intern_str(g->context.texts, buf_str(&name)) + UINT64_C(1);
	}
	return *known - 1;
}

static void group_frames(struct grouping *g, const struct profile *p)
{
	own(freep) uint32_t *row_of_frame =
		xcalloc(p->frames.n + 1, sizeof(*row_of_frame));

	for (uint32_t i = 0; i < p->frames.n; i++) {
		const struct profile_frame *f = &p->frames.at[i];
		uint32_t row = row_of(g, g->dimension->frame_key(&g->context, f));

		row_of_frame[i] = row;
		/* The innermost function at an address says most about it. */
		if (g->rows.at[row].frame == MODEL_NONE || f->is_inlined)
			g->rows.at[row].frame = i;
	}
	metrics_sum(&g->metrics, p, row_of_frame, g->rows.n);
}

static size_t value_at(struct grouping *g, uint32_t row, size_t column)
{
	size_t n = g->context.profile->columns.n;

	while (g->weights.n < g->rows.n * n) {
		*vec_push(&g->weights) = 0;
		*vec_push(&g->counts) = 0;
	}
	return row * n + column;
}

static void take_sums(struct grouping *g)
{
	size_t n_columns = g->context.profile->columns.n;
	size_t n = g->rows.n * n_columns;

	g->metrics = (struct metrics){
		.n_rows = g->rows.n,
		.n_columns = n_columns,
		.exclusive = xcalloc(n + 1, sizeof(uint64_t)),
		.inclusive = xcalloc(n + 1, sizeof(uint64_t)),
		.exclusive_counts = xcalloc(n + 1, sizeof(uint64_t)),
	};
	if (n) {
		memcpy(g->metrics.exclusive, g->weights.at, n * sizeof(uint64_t));
		memcpy(g->metrics.inclusive, g->weights.at, n * sizeof(uint64_t));
		memcpy(g->metrics.exclusive_counts, g->counts.at, n * sizeof(uint64_t));
	}
}

static void group_stacks(struct grouping *g, const struct profile *p)
{
	for (uint32_t k = 0; k < p->n_sources; k++) {
		const struct input *s = &p->sources[k];

		for (uint32_t i = 0; i < s->n_stacks; i++) {
			const uint64_t *w = input_weights(s, i);

			if (!w)
				continue;

			uint64_t key =
				shared(g, g->dimension->stack_key(&g->context, k, i));
			size_t at = value_at(g, row_of(g, key), s->first_column);

			for (uint32_t c = 0; c < s->n_columns; c++) {
				g->weights.at[at + c] += w[c];
				g->counts.at[at + c] += input_counts(s, i)[c];
			}
		}
	}
	take_sums(g);
}

struct sum {
	struct grouping *g;
	const struct input *source;
	uint32_t id;
};

static int sum_block(void *ctx, const struct sample_block *b, const uint8_t *keep,
		     struct err *e unused)
{
	struct sum *sum = ctx;
	struct grouping *g = sum->g;

	for (size_t i = 0; i < b->n; i++) {
		uint32_t column = sum->source->column_of_event[b->event[i]];

		if (column == MODEL_NONE || (keep && !keep[i]))
			continue;

		uint64_t key =
			shared(g, g->dimension->sample_key(&g->context, sum->id, b, i));
		size_t at =
			value_at(g, row_of(g, key), sum->source->first_column + column);

		g->weights.at[at] += b->weight[i];
		g->counts.at[at] += b->count[i];
	}
	return 0;
}

static int group_samples(struct grouping *g, const struct profile *p, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < p->n_sources && rc == 0; i++) {
		/* A copy: bad blocks were counted when the profile was loaded. */
		struct input s = p->sources[i];
		struct sum sum = { g, &s, i };
		own(filter_binding_freep) struct filter_binding *filter =
			p->filter ? filter_bind(p->filter, p, &s) : NULL;

		rc = stream_samples(&s, filter,
				    g->dimension->columns | SAMPLE_EVENT | SAMPLE_COUNT |
					    SAMPLE_WEIGHT,
				    sum_block, &sum, e);
	}
	derived_sum_rows(p, g->weights.at, g->weights.n / (p->columns.n + !p->columns.n));
	derived_sum_rows(p, g->counts.at, g->counts.n / (p->columns.n + !p->columns.n));
	take_sums(g);
	return rc;
}

static int make(const struct profile *p, const struct dimension *d, bool is_shared,
		struct grouping **ret, struct err *e)
{
	own(grouping_freep) struct grouping *g = xcalloc(1, sizeof(*g));
	int rc = 0;

	g->dimension = d;
	g->is_shared = is_shared;
	g->context = (struct dimension_context){ p, intern_new() };
	if (d->scope == DIMENSION_FRAME)
		group_frames(g, p);
	else if (d->scope == DIMENSION_STACK)
		group_stacks(g, p);
	else
		rc = group_samples(g, p, e);
	if (rc < 0)
		return rc;
	*ret = steal(&g);
	return 0;
}

int grouping_make(const struct profile *p, const struct dimension *d,
		  struct grouping **ret, struct err *e)
{
	return make(p, d, false, ret, e);
}

int grouping_make_shared(const struct profile *p, const struct dimension *d,
			 struct grouping **ret, struct err *e)
{
	return make(p, d, d->shared_name, ret, e);
}

void grouping_free(struct grouping *g)
{
	if (!g)
		return;
	intern_free(g->context.texts);
	metrics_fini(&g->metrics);
	map_fini(&g->shared_key);
	map_fini(&g->row_of_key);
	vec_fini(&g->rows);
	vec_fini(&g->weights);
	vec_fini(&g->counts);
	free(g);
}

void grouping_freep(struct grouping **g)
{
	grouping_free(*g);
}

size_t grouping_n_rows(const struct grouping *g)
{
	return g->rows.n;
}

const struct metrics *grouping_metrics(const struct grouping *g)
{
	return &g->metrics;
}

bool grouping_has_inclusive(const struct grouping *g)
{
	return g->dimension->scope == DIMENSION_FRAME;
}

void grouping_label(const struct grouping *g, size_t row, struct dimension_label *ret)
{
	const struct row *r = &g->rows.at[row];
	const struct profile *p = g->context.profile;

	*ret = (struct dimension_label){ .function = MODEL_NONE,
					 .code_function = MODEL_NONE };
	if (g->is_shared)
		buf_puts(&ret->name, intern_get(g->context.texts, (uint32_t)r->key));
	else
		g->dimension->label(
			&g->context, r->key,
			r->frame == MODEL_NONE ? NULL : &p->frames.at[r->frame], ret);
	buf_str(&ret->name);
}

void grouping_label_fini(struct dimension_label *label)
{
	buf_fini(&label->name);
}
