/* SPDX-License-Identifier: Apache-2.0 */
#include "store/code_batch.h"

#include <string.h>

#include "store/gauge.h"
#include "store/model.h"
#include "store/model_anchor.h"

struct code_field {
	uint16_t at;
	uint8_t width, id; /* of the column */
	uint8_t of;	   /* enum format_kind that an id is of, 0: a number */
	bool is_optional;  /* stored as id + 1 */
};

struct code_batch_layout {
	size_t item_size, n_fields;
	struct code_field fields[7];
};

#define FIELD(type, m, ...)                                                              \
	{                                                                                \
		offsetof(struct type, m), sizeof(((struct type *)0)->m), __VA_ARGS__     \
	}

const struct code_batch_layout code_batch_basic_blocks = {
	sizeof(struct model_basic_block),
	6,
	{ FIELD(model_basic_block, process, BASIC_BLOCK_COLUMN_PROCESS, FORMAT_PROCESSES),
	  FIELD(model_basic_block, location, BASIC_BLOCK_COLUMN_LOCATION,
		FORMAT_LOCATIONS),
	  FIELD(model_basic_block, size_bytes, BASIC_BLOCK_COLUMN_SIZE),
	  FIELD(model_basic_block, n_instructions, BASIC_BLOCK_COLUMN_INSTRUCTIONS),
	  FIELD(model_basic_block, end, BASIC_BLOCK_COLUMN_END),
	  FIELD(model_basic_block, times, BASIC_BLOCK_COLUMN_TIMES) },
};

const struct code_batch_layout code_batch_edges = {
	sizeof(struct model_edge),
	4,
	{ FIELD(model_edge, block, EDGE_COLUMN_BLOCK, FORMAT_BASIC_BLOCKS),
	  FIELD(model_edge, location, EDGE_COLUMN_LOCATION, FORMAT_LOCATIONS, true),
	  FIELD(model_edge, kind, EDGE_COLUMN_KIND),
	  FIELD(model_edge, times, EDGE_COLUMN_TIMES) },
};

const struct code_batch_layout code_batch_directions = {
	sizeof(struct model_direction),
	7,
	{ FIELD(model_direction, process, DIRECTION_COLUMN_PROCESS, FORMAT_PROCESSES),
	  FIELD(model_direction, location, DIRECTION_COLUMN_LOCATION, FORMAT_LOCATIONS),
	  FIELD(model_direction, to, DIRECTION_COLUMN_TO, FORMAT_LOCATIONS, true),
	  FIELD(model_direction, times, DIRECTION_COLUMN_TIMES),
	  FIELD(model_direction, samples, DIRECTION_COLUMN_SAMPLES),
	  FIELD(model_direction, missed, DIRECTION_COLUMN_MISSED),
	  FIELD(model_direction, foreseen, DIRECTION_COLUMN_FORESEEN) },
};

const struct code_batch_layout code_batch_accesses = {
	sizeof(struct model_access),
	5,
	{ FIELD(model_access, process, ACCESS_COLUMN_PROCESS, FORMAT_PROCESSES),
	  FIELD(model_access, location, ACCESS_COLUMN_LOCATION, FORMAT_LOCATIONS),
	  FIELD(model_access, what, ACCESS_COLUMN_WHAT),
	  FIELD(model_access, value, ACCESS_COLUMN_VALUE),
	  FIELD(model_access, times, ACCESS_COLUMN_TIMES) },
};

const struct code_batch_layout code_batch_anchors = {
	sizeof(struct model_anchor),
	7,
	{ FIELD(model_anchor, process, ANCHOR_COLUMN_PROCESS, FORMAT_PROCESSES),
	  FIELD(model_anchor, window, ANCHOR_COLUMN_WINDOW),
	  FIELD(model_anchor, location, ANCHOR_COLUMN_LOCATION, FORMAT_LOCATIONS, true),
	  FIELD(model_anchor, size_bytes, ANCHOR_COLUMN_SIZE),
	  FIELD(model_anchor, times, ANCHOR_COLUMN_TIMES),
	  FIELD(model_anchor, cpu_ns, ANCHOR_COLUMN_CPU),
	  FIELD(model_anchor, is_near, ANCHOR_COLUMN_NEAR) },
};

const struct code_batch_layout code_batch_anchor_ways = {
	sizeof(struct model_anchor_way),
	5,
	{ FIELD(model_anchor_way, process, ANCHOR_WAY_COLUMN_PROCESS, FORMAT_PROCESSES),
	  FIELD(model_anchor_way, window, ANCHOR_WAY_COLUMN_WINDOW),
	  FIELD(model_anchor_way, behind, ANCHOR_WAY_COLUMN_BEHIND, FORMAT_LOCATIONS),
	  FIELD(model_anchor_way, to, ANCHOR_WAY_COLUMN_TO, FORMAT_LOCATIONS, true),
	  FIELD(model_anchor_way, times, ANCHOR_WAY_COLUMN_TIMES) },
};

const struct code_batch_layout code_batch_gauges = {
	sizeof(struct gauge),
	4,
	{ FIELD(gauge, time_ns, GAUGE_COLUMN_TIME), FIELD(gauge, pid, GAUGE_COLUMN_PID),
	  FIELD(gauge, what, GAUGE_COLUMN_WHAT),
	  FIELD(gauge, value, GAUGE_COLUMN_VALUE) },
};

void code_batch_fini(struct code_batch *b)
{
	buf_fini(&b->rows);
	vec_fini(&b->column);
	b->n = 0;
}

void code_batch_add(struct code_batch *b, const void *row)
{
	buf_add(&b->rows, row, b->layout->item_size);
	b->n++;
}

bool code_batch_is_full(const struct code_batch *b)
{
	return b->n >= CODE_BATCH_MAX;
}

void code_batch_clear(struct code_batch *b)
{
	buf_clear(&b->rows);
	b->n = 0;
}

const void *code_batch_row(const struct code_batch *b, size_t i)
{
	return b->rows.data + i * b->layout->item_size;
}

static uint64_t get(const struct code_batch *b, const struct code_field *f, size_t i)
{
	uint64_t v = 0;

	memcpy(&v, (const uint8_t *)code_batch_row(b, i) + f->at, f->width);
	return f->is_optional ? (uint32_t)(v + 1) : v;
}

static void put(struct code_batch *b, const struct code_field *f, size_t i, uint64_t v)
{
	uint64_t own = f->is_optional ? (uint32_t)(v - 1) : v;

	memcpy(b->rows.data + i * b->layout->item_size + f->at, &own, f->width);
}

/* A row's id, as stored, is at most that: what it refers to is below. */
static uint32_t bound_of(const struct code_field *f, uint64_t largest)
{
	return (uint32_t)(f->is_optional ? largest : largest + 1);
}

static void fill_column(struct code_batch *b, const struct code_field *f,
			uint32_t bounds[FORMAT_N_KINDS])
{
	uint64_t largest = 0;

	for (size_t i = 0; i < b->n; i++) {
		b->column.at[i] = get(b, f, i);
		largest = b->column.at[i] > largest ? b->column.at[i] : largest;
	}
	if (f->of && bounds[f->of] < bound_of(f, largest))
		bounds[f->of] = bound_of(f, largest);
}

/* What the common head has no place for. */
static void put_more(struct buf *more, const uint32_t bounds[FORMAT_N_KINDS])
{
	buf_uleb(more, bounds[FORMAT_PROCESSES]);
	buf_uleb(more, bounds[FORMAT_BASIC_BLOCKS]);
}

void code_batch_encode(struct code_batch *b, uint64_t first, struct squeeze *squeeze,
		       struct buf *out, struct format_summary *ret)
{
	const struct code_batch_layout *l = b->layout;
	struct buf columns = { 0 }, more = { 0 };
	uint32_t bounds[FORMAT_N_KINDS] = { 0 };
	struct column_set_head head = { .summary = { .n = b->n, .first = first } };

	vec_reserve(&b->column, b->n);
	for (size_t i = 0; i < l->n_fields; i++) {
		fill_column(b, &l->fields[i], bounds);
		column_set_add(&columns, l->fields[i].id, b->column.at, b->n, squeeze);
	}
	head.n_locations = bounds[FORMAT_LOCATIONS];
	put_more(&more, bounds);
	column_set_begin_with(out, &head, &more);
	buf_add(out, columns.data, columns.size);
	buf_fini(&columns);
	buf_fini(&more);
	*ret = head.summary;
}

bool code_batch_is_known(const struct column_set *s, const uint32_t n[FORMAT_N_KINDS])
{
	struct reader more = s->more;
	bool is_known = column_set_is_known(s, n) &&
			reader_uleb(&more) <= n[FORMAT_PROCESSES] &&
			reader_uleb(&more) <= n[FORMAT_BASIC_BLOCKS];

	return is_known && !more.bad;
}

static bool decode_field(struct code_batch *b, const struct code_field *f,
			 const struct column_set *s, const uint32_t n[FORMAT_N_KINDS],
			 struct buf *scratch)
{
	if (!column_set_u64(s, f->id, 0, b->column.at, scratch))
		return false;
	for (size_t i = 0; i < b->n; i++) {
		uint64_t v = b->column.at[i];

		if ((f->width == 4 && v > UINT32_MAX) ||
		    (f->of && v >= (uint64_t)n[f->of] + f->is_optional))
			return false;
		put(b, f, i, v);
	}
	return true;
}

bool code_batch_decode(struct code_batch *b, const struct column_set *s,
		       const uint32_t n[FORMAT_N_KINDS], struct buf *scratch)
{
	const struct code_batch_layout *l = b->layout;
	bool is_good = true;

	code_batch_clear(b);
	b->n = (size_t)s->head.summary.n;
	memset(buf_reserve(&b->rows, b->n * l->item_size + 1), 0, b->n * l->item_size);
	vec_reserve(&b->column, b->n);
	for (size_t i = 0; i < l->n_fields && is_good; i++)
		is_good = decode_field(b, &l->fields[i], s, n, scratch);
	if (!is_good)
		code_batch_clear(b);
	return is_good;
}
