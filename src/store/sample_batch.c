/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sample_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define SLOTS (2 * SAMPLE_BATCH_MAX)

struct sample_field {
	uint8_t at, width;
};

#define FIELD(m)                                                                         \
	{                                                                                \
		offsetof(struct model_sample, m), sizeof(((struct model_sample *)0)->m)  \
	}

static const struct sample_field fields[SAMPLE_N_COLUMNS] = {
	[SAMPLE_COLUMN_TIME] = FIELD(time_ns),	[SAMPLE_COLUMN_EVENT] = FIELD(event),
	[SAMPLE_COLUMN_THREAD] = FIELD(thread), [SAMPLE_COLUMN_CPU] = FIELD(cpu),
	[SAMPLE_COLUMN_STACK] = FIELD(stack),	[SAMPLE_COLUMN_COUNT] = FIELD(count),
	[SAMPLE_COLUMN_WEIGHT] = FIELD(weight),
};

void sample_batch_fini(struct sample_batch *b)
{
	vec_fini(&b->rows);
	vec_fini(&b->column);
	free(b->slots);
	b->slots = NULL;
}

static bool is_same_key(const struct model_sample *a, const struct model_sample *b)
{
	return a->stack == b->stack && a->thread == b->thread && a->event == b->event &&
	       a->cpu == b->cpu;
}

static uint32_t *find_slot(const struct sample_batch *b, const struct model_sample *s)
{
	uint64_t key = hash_pair((uint64_t)s->stack << 32 | s->thread,
				 (uint64_t)s->event << 32 | s->cpu);
	size_t i = key % SLOTS;

	while (b->slots[i] && !is_same_key(&b->rows.at[b->slots[i] - 1], s))
		i = (i + 1) % SLOTS;
	return &b->slots[i];
}

static void merge(struct sample_batch *b, const struct model_sample *s)
{
	if (!b->slots)
		b->slots = xcalloc(SLOTS, sizeof(*b->slots));

	uint32_t *slot = find_slot(b, s);

	if (*slot) {
		struct model_sample *row = &b->rows.at[*slot - 1];

		/* A count that would not fit any more begins a row of its own. */
		if (row->count <= UINT32_MAX - s->count) {
			row->count += s->count;
			row->weight += s->weight;
			return;
		}
	}
	*vec_push(&b->rows) = *s;
	b->rows.at[b->rows.n - 1].time_ns = 0;
	*slot = (uint32_t)b->rows.n;
}

void sample_batch_add(struct sample_batch *b, const struct model_sample *s)
{
	b->n_taken += s->count;
	if (b->is_merged)
		merge(b, s);
	else
		*vec_push(&b->rows) = *s;
}

bool sample_batch_is_full(const struct sample_batch *b)
{
	return b->rows.n >= SAMPLE_BATCH_MAX;
}

static void gather(struct sample_batch *b, const struct sample_field *f)
{
	const uint8_t *row = (const uint8_t *)b->rows.at + f->at;
	const size_t stride = sizeof(struct model_sample);

	if (f->width == 8) {
		for (size_t i = 0; i < b->rows.n; i++, row += stride)
			memcpy(&b->column.at[i], row, 8);
		return;
	}
	for (size_t i = 0; i < b->rows.n; i++, row += stride) {
		uint32_t v;

		memcpy(&v, row, 4);
		b->column.at[i] = v;
	}
}

static struct column_set_head describe(struct sample_batch *b)
{
	struct column_set_head h = { .summary = { .n = b->rows.n,
						  .from_ns = UINT64_MAX,
						  .event = b->of_event,
						  .first_image = b->first_image,
						  .last_image = b->last_image } };

	vec_each(s, &b->rows) {
		if (s->time_ns < h.summary.from_ns)
			h.summary.from_ns = s->time_ns;
		if (s->time_ns > h.summary.to_ns)
			h.summary.to_ns = s->time_ns;
		if (s->event >= h.n_events)
			h.n_events = s->event + 1;
		if (s->thread >= h.n_threads)
			h.n_threads = s->thread + 1;
		if (s->stack >= h.n_stacks)
			h.n_stacks = s->stack + 1;
	}
	return h;
}

/* Merged samples mostly weigh their count times the event's period. */
static bool count_weight(const struct sample_batch *b, uint64_t *ret)
{
	uint64_t each =
		b->rows.at[0].count ? b->rows.at[0].weight / b->rows.at[0].count : 0;

	vec_each(s, &b->rows)
		if (s->weight != s->count * each)
			return false;
	*ret = each;
	return true;
}

void sample_batch_encode(struct sample_batch *b, struct squeeze *squeeze, struct buf *out,
			 struct format_summary *ret)
{
	struct column_set_head head = describe(b);

	uint64_t each = 0;
	bool is_even = b->is_merged && count_weight(b, &each);

	vec_reserve(&b->column, b->rows.n + 1);
	column_set_begin(out, &head);
	for (unsigned id = 0; id < SAMPLE_N_COLUMNS; id++) {
		if (id == SAMPLE_COLUMN_TIME && b->is_merged)
			continue;
		if (id == SAMPLE_COLUMN_WEIGHT && is_even) {
			for (size_t i = 0; i < b->rows.n; i++)
				b->column.at[i] = each;
			column_set_add(out, SAMPLE_COLUMN_COUNT_WEIGHT, b->column.at,
				       b->rows.n, squeeze);
			continue;
		}
		gather(b, &fields[id]);
		column_set_add(out, id, b->column.at, b->rows.n, squeeze);
	}
	*ret = head.summary;
}

void sample_batch_clear(struct sample_batch *b)
{
	vec_clear(&b->rows);
	b->n_taken = 0;
	if (b->slots)
		memset(b->slots, 0, SLOTS * sizeof(*b->slots));
}
