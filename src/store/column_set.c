/* SPDX-License-Identifier: Apache-2.0 */
#include "store/column_set.h"

#include "base/own.h"

void column_set_begin(struct buf *out, const struct column_set_head *head)
{
	column_set_begin_with(out, head, &(struct buf){ 0 });
}

void column_set_begin_with(struct buf *out, const struct column_set_head *head,
			   const struct buf *more)
{
	own(buf_fini) struct buf record = { 0 };

	buf_uleb(&record, head->summary.n);
	buf_uleb(&record, head->summary.first);
	buf_uleb(&record, head->summary.from_ns);
	buf_uleb(&record, head->summary.to_ns);
	buf_uleb(&record, head->n_events);
	buf_uleb(&record, head->n_threads);
	buf_uleb(&record, head->n_stacks);
	buf_uleb(&record, head->n_locations);
	buf_uleb(&record, head->n_images);
	buf_uleb(&record, head->n_trace_types);
	buf_add(&record, more->data, more->size);
	buf_uleb(out, record.size);
	buf_add(out, record.data, record.size);
}

void column_set_add(struct buf *out, unsigned id, const uint64_t *values, size_t n,
		    struct squeeze *squeeze)
{
	buf_u8(out, (uint8_t)id);
	column_codec_encode(values, n, squeeze, out);
}

static uint32_t read_bound(struct reader *r)
{
	uint64_t v = reader_uleb(r);

	if (v > UINT32_MAX)
		r->bad = true;
	return (uint32_t)v;
}

bool column_set_parse(const uint8_t *payload, size_t size, struct column_set *ret)
{
	struct reader r = reader_over(payload, size);
	size_t head_size = reader_count(&r, 1);
	const uint8_t *head = reader_bytes(&r, head_size);
	struct reader h = reader_over(head, head_size);

	ret->head.summary.n = reader_uleb(&h);
	ret->head.summary.first = reader_uleb(&h);
	ret->head.summary.from_ns = reader_uleb(&h);
	ret->head.summary.to_ns = reader_uleb(&h);
	ret->head.n_events = read_bound(&h);
	ret->head.n_threads = read_bound(&h);
	ret->head.n_stacks = read_bound(&h);
	ret->head.n_locations = read_bound(&h);
	ret->head.n_images = read_bound(&h);
	ret->head.n_trace_types = read_bound(&h);
	ret->more = h;
	ret->columns = r;
	return !r.bad && !h.bad && ret->head.summary.n <= FORMAT_ROWS_MAX;
}

bool column_set_is_known(const struct column_set *s, const uint32_t n[FORMAT_N_KINDS])
{
	const struct column_set_head *h = &s->head;

	return h->n_events <= n[FORMAT_EVENTS] && h->n_threads <= n[FORMAT_THREADS] &&
	       h->n_stacks <= n[FORMAT_STACKS] && h->n_locations <= n[FORMAT_LOCATIONS] &&
	       h->n_images <= n[FORMAT_IMAGES] &&
	       h->n_trace_types <= n[FORMAT_TRACE_TYPES];
}

struct column {
	const uint8_t *data; /* NULL: the set has no such column */
	size_t size;
	unsigned codec;
};

/* False: the set ends inside a column. */
static bool find_column(const struct column_set *s, unsigned id, struct column *ret)
{
	struct reader r = s->columns;

	*ret = (struct column){ 0 };
	while (reader_left(&r)) {
		unsigned seen = reader_u8(&r);
		unsigned codec = reader_u8(&r);
		size_t size = reader_count(&r, 1);
		const uint8_t *data = reader_bytes(&r, size);

		if (data && seen == id) {
			*ret = (struct column){ data, size, codec };
			return true;
		}
	}
	return !r.bad;
}

bool column_set_has(const struct column_set *s, unsigned id)
{
	struct column c;

	return find_column(s, id, &c) && c.data;
}

bool column_set_u32(const struct column_set *s, unsigned id, uint32_t absent,
		    uint32_t *out, struct buf *scratch)
{
	size_t n = (size_t)s->head.summary.n;
	struct column c;

	if (!find_column(s, id, &c))
		return false;
	if (c.data)
		return column_codec_decode(c.codec, c.data, c.size, n, false, out,
					   scratch);
	for (size_t i = 0; i < n; i++)
		out[i] = absent;
	return true;
}

bool column_set_u64(const struct column_set *s, unsigned id, uint64_t absent,
		    uint64_t *out, struct buf *scratch)
{
	size_t n = (size_t)s->head.summary.n;
	struct column c;

	if (!find_column(s, id, &c))
		return false;
	if (c.data)
		return column_codec_decode(c.codec, c.data, c.size, n, true, out,
					   scratch);
	for (size_t i = 0; i < n; i++)
		out[i] = absent;
	return true;
}
