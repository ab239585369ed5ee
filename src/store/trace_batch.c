/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trace_batch.h"

#include <string.h>

struct trace_field {
	uint16_t at;
	uint8_t width, id; /* enum format_trace_column */
	uint32_t absent;
};

#define FIELD(m, id, absent)                                                             \
	{                                                                                \
		offsetof(struct model_trace, m), sizeof(((struct model_trace *)0)->m),   \
			(id), (absent)                                                   \
	}

static const struct trace_field fields[] = {
	FIELD(time_ns, TRACE_COLUMN_TIME, 0),  FIELD(trace_type, TRACE_COLUMN_TYPE, 0),
	FIELD(thread, TRACE_COLUMN_THREAD, 0), FIELD(cpu, TRACE_COLUMN_CPU, MODEL_NONE),
	FIELD(stack, TRACE_COLUMN_STACK, 0),
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static struct trace_field value_field(unsigned i)
{
	return (struct trace_field){
		.at = (uint16_t)(offsetof(struct model_trace, values) + 8 * i),
		.width = 8,
		.id = (uint8_t)(TRACE_COLUMN_VALUE + i),
	};
}

void trace_batch_fini(struct trace_batch *b)
{
	vec_fini(&b->rows);
	vec_fini(&b->column);
}

void trace_batch_add(struct trace_batch *b, const struct model_trace *t,
		     unsigned n_values)
{
	struct model_trace *row = vec_push(&b->rows);

	*row = *t;
	/* What the type does not have is no information; as 0 it costs nothing. */
	memset(row->values + n_values, 0,
	       (MODEL_TRACE_COLUMNS_MAX - n_values) * sizeof(row->values[0]));
	if (n_values > b->n_values)
		b->n_values = n_values;
}

bool trace_batch_is_full(const struct trace_batch *b)
{
	return b->rows.n >= TRACE_BATCH_MAX;
}

static struct column_set_head describe(struct trace_batch *b)
{
	struct column_set_head h = { .summary = { .n = b->rows.n,
						  .from_ns = UINT64_MAX } };

	vec_each(t, &b->rows) {
		if (t->time_ns < h.summary.from_ns)
			h.summary.from_ns = t->time_ns;
		if (t->time_ns > h.summary.to_ns)
			h.summary.to_ns = t->time_ns;
		if (t->trace_type >= h.n_trace_types)
			h.n_trace_types = t->trace_type + 1;
		if (t->thread >= h.n_threads)
			h.n_threads = t->thread + 1;
		if (t->stack >= h.n_stacks)
			h.n_stacks = t->stack + 1;
	}
	return h;
}

static void encode_field(struct trace_batch *b, const struct trace_field *f,
			 struct squeeze *squeeze, struct buf *out)
{
	for (size_t i = 0; i < b->rows.n; i++) {
		b->column.at[i] = 0;
		memcpy(&b->column.at[i], (const uint8_t *)&b->rows.at[i] + f->at,
		       f->width);
	}
	column_set_add(out, f->id, b->column.at, b->rows.n, squeeze);
}

void trace_batch_encode(struct trace_batch *b, struct squeeze *squeeze, struct buf *out,
			struct format_summary *ret)
{
	struct column_set_head head = describe(b);

	vec_reserve(&b->column, b->rows.n);
	column_set_begin(out, &head);
	for (size_t i = 0; i < N_FIELDS; i++)
		encode_field(b, &fields[i], squeeze, out);
	for (unsigned i = 0; i < b->n_values; i++) {
		struct trace_field f = value_field(i);

		encode_field(b, &f, squeeze, out);
	}
	*ret = head.summary;
}

void trace_batch_clear(struct trace_batch *b)
{
	vec_clear(&b->rows);
	b->n_values = 0;
}

static bool decode_field(struct trace_batch *b, const struct trace_field *f,
			 const struct column_set *s, struct buf *scratch)
{
	bool is_good;

	if (f->width == 8)
		is_good = column_set_u64(s, f->id, f->absent, b->column.at, scratch);
	else
		is_good = column_set_u32(s, f->id, f->absent, (uint32_t *)b->column.at,
					 scratch);
	if (!is_good)
		return false;
	for (size_t i = 0; i < b->rows.n; i++)
		memcpy((uint8_t *)&b->rows.at[i] + f->at,
		       (const uint8_t *)b->column.at + i * f->width, f->width);
	return true;
}

bool trace_batch_decode(struct trace_batch *b, const struct column_set *s,
			struct buf *scratch)
{
	size_t n = (size_t)s->head.summary.n;
	bool is_good = true;

	vec_reserve(&b->rows, n);
	vec_reserve(&b->column, n);
	b->rows.n = n;
	for (size_t i = 0; i < N_FIELDS && is_good; i++)
		is_good = decode_field(b, &fields[i], s, scratch);
	for (unsigned i = 0; i < MODEL_TRACE_COLUMNS_MAX && is_good; i++) {
		struct trace_field f = value_field(i);

		is_good = decode_field(b, &f, s, scratch);
	}
	return is_good;
}
