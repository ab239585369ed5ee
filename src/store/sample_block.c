/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sample_block.h"

#include <string.h>

#include "base/own.h"
#include "store/column_set.h"
#include "store/model.h"

struct field {
	uint8_t id;	 /* enum format_sample_column */
	uint8_t of;	 /* kind of the ids in it, 0: plain numbers */
	uint16_t at;	 /* of the pointer in struct sample_block */
	uint32_t absent; /* value when the block has no such column */
	bool is_wide;
};

#define PLAIN(name, id, absent, is_wide)                                                 \
	{                                                                                \
		id, 0, offsetof(struct sample_block, name), absent, is_wide              \
	}
#define IDS(name, id, kind)                                                              \
	{                                                                                \
		id, kind, offsetof(struct sample_block, name), 0, false                  \
	}

/* The wide ones first: then all are aligned in one piece of memory. */
static const struct field fields[SAMPLE_N_COLUMNS] = {
	PLAIN(time_ns, SAMPLE_COLUMN_TIME, 0, true),
	PLAIN(weight, SAMPLE_COLUMN_WEIGHT, 0, true),
	IDS(event, SAMPLE_COLUMN_EVENT, FORMAT_EVENTS),
	IDS(thread, SAMPLE_COLUMN_THREAD, FORMAT_THREADS),
	PLAIN(cpu, SAMPLE_COLUMN_CPU, MODEL_NONE, false),
	IDS(stack, SAMPLE_COLUMN_STACK, FORMAT_STACKS),
	PLAIN(count, SAMPLE_COLUMN_COUNT, 1, false),
};

void sample_block_fini(struct sample_block *b)
{
	buf_fini(&b->raw);
	buf_fini(&b->stored);
	buf_fini(&b->columns);
}

static bool are_below(const uint32_t *ids, size_t n, uint32_t limit)
{
	uint32_t highest = 0;

	for (size_t i = 0; i < n; i++)
		highest = ids[i] > highest ? ids[i] : highest;
	return !n || highest < limit;
}

/* Weights that are said per count; a block that has none of them says nothing. */
static bool read_even_weights(const struct column_set *s, struct buf *scratch,
			      uint64_t *weights)
{
	size_t n = (size_t)s->head.summary.n;
	own(buf_fini) struct buf counts = { 0 };
	uint32_t *count = (uint32_t *)buf_reserve(&counts, n * sizeof(*count) + 1);

	if (!column_set_u64(s, SAMPLE_COLUMN_COUNT_WEIGHT, 0, weights, scratch) ||
	    !column_set_u32(s, SAMPLE_COLUMN_COUNT, 1, count, scratch))
		return false;
	for (size_t i = 0; i < n; i++)
		weights[i] *= count[i];
	return true;
}

static bool read_column(struct sample_block *b, const struct column_set *s,
			const struct field *f, uint8_t *out,
			const uint32_t known[FORMAT_N_KINDS])
{
	size_t n = (size_t)s->head.summary.n;

	memcpy((uint8_t *)b + f->at, &out, sizeof(out));
	if (f->id == SAMPLE_COLUMN_WEIGHT && !column_set_has(s, SAMPLE_COLUMN_WEIGHT) &&
	    column_set_has(s, SAMPLE_COLUMN_COUNT_WEIGHT))
		return read_even_weights(s, &b->raw, (uint64_t *)out);
	if (f->is_wide)
		return column_set_u64(s, f->id, f->absent, (uint64_t *)out, &b->raw);
	if (!column_set_u32(s, f->id, f->absent, (uint32_t *)out, &b->raw))
		return false;
	return !f->of || are_below((uint32_t *)out, n, known[f->of]);
}

static size_t row_bytes(unsigned columns)
{
	size_t n = 0;

	for (size_t i = 0; i < SAMPLE_N_COLUMNS; i++)
		n += columns & 1u << fields[i].id ? (fields[i].is_wide ? 8 : 4) : 0;
	return n;
}

bool sample_block_decode(struct sample_block *b, const struct column_set *s,
			 unsigned columns, const uint32_t n[FORMAT_N_KINDS])
{
	size_t n_rows = (size_t)s->head.summary.n;
	bool is_good = true;

	b->n = 0;
	buf_clear(&b->columns);

	uint8_t *out = buf_reserve(&b->columns, n_rows * row_bytes(columns) + 1);

	for (size_t i = 0; i < SAMPLE_N_COLUMNS && is_good; i++) {
		const struct field *f = &fields[i];
		const void *none = NULL;

		if (!(columns & 1u << f->id)) {
			memcpy((uint8_t *)b + f->at, &none, sizeof(none));
			continue;
		}
		is_good = read_column(b, s, f, out, n);
		out += n_rows * (f->is_wide ? 8 : 4);
	}
	b->n = is_good ? n_rows : 0;
	return is_good;
}
