/* SPDX-License-Identifier: Apache-2.0 */
#include "store/column_codec.h"

#include <string.h>

#include "base/map.h"
#include "base/own.h"
#include "base/reader.h"
#include "store/bits.h"

#define PALETTE_MAX   256
#define PALETTE_SLOTS 1024 /* power of two, at most a quarter full */

/* Distinct values in order of appearance, given up beyond PALETTE_MAX. */
struct palette {
	uint64_t values[PALETTE_MAX];
	uint16_t slots[PALETTE_SLOTS]; /* index + 1, 0 free */
	size_t n;
	bool is_over;
};

struct measure {
	uint64_t min, max;
	size_t n_runs, varint_bytes, delta_bytes, run_bytes;
	struct palette palette;
};

static size_t uleb_bytes(uint64_t v)
{
	return (size_t)(70 - __builtin_clzll(v | 1)) / 7;
}

static uint64_t to_zigzag(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

static uint64_t from_zigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

static uint16_t *palette_slot(struct palette *p, uint64_t v)
{
	size_t i = hash_u64(v) % PALETTE_SLOTS;

	while (p->slots[i] && p->values[p->slots[i] - 1] != v)
		i = (i + 1) % PALETTE_SLOTS;
	return &p->slots[i];
}

static void palette_add(struct palette *p, uint64_t v)
{
	if (p->is_over)
		return;

	uint16_t *slot = palette_slot(p, v);

	if (*slot)
		return;
	if (p->n == PALETTE_MAX) {
		p->is_over = true;
		return;
	}
	p->values[p->n++] = v;
	*slot = (uint16_t)p->n;
}

static void measure(const uint64_t *v, size_t n, struct measure *m)
{
	size_t run_start = 0;
	uint64_t previous = 0;

	*m = (struct measure){ .min = v[0], .max = v[0] };
	for (size_t i = 0; i < n; i++) {
		m->varint_bytes += uleb_bytes(v[i]);
		m->delta_bytes += uleb_bytes(to_zigzag(v[i] - previous));
		if (i && v[i] == previous)
			continue;
		if (i)
			m->run_bytes += uleb_bytes(previous) + uleb_bytes(i - run_start);
		run_start = i;
		m->n_runs++;
		m->min = v[i] < m->min ? v[i] : m->min;
		m->max = v[i] > m->max ? v[i] : m->max;
		palette_add(&m->palette, v[i]);
		previous = v[i];
	}
	m->run_bytes += uleb_bytes(previous) + uleb_bytes(n - run_start);
}

/* Bytes that every value of the range fits in. */
static unsigned width_of(uint64_t range)
{
	return range ? (unsigned)(71 - __builtin_clzll(range)) / 8 : 1;
}

static enum column_codec choose(const struct measure *m, size_t n)
{
	const size_t palette_bytes =
		m->palette.is_over ? SIZE_MAX : n + m->palette.n * uleb_bytes(m->max);
	/* In the order of their speed in the reader. */
	const struct {
		enum column_codec codec;
		size_t bytes;
	} candidates[] = {
		{ COLUMN_CODEC_RUNS, m->run_bytes },
		{ COLUMN_CODEC_FIXED, n * width_of(m->max - m->min) },
		{ COLUMN_CODEC_PALETTE, palette_bytes },
		{ COLUMN_CODEC_VARINT, m->varint_bytes },
		{ COLUMN_CODEC_DELTA, m->delta_bytes },
	};
	size_t best = 0;

	if (m->n_runs == 1)
		return COLUMN_CODEC_CONSTANT;
	for (size_t i = 1; i < sizeof(candidates) / sizeof(candidates[0]); i++)
		if (candidates[i].bytes <
		    candidates[best].bytes - candidates[best].bytes / 16)
			best = i;
	return candidates[best].codec;
}

static void write_fixed(const uint64_t *v, size_t n, const struct measure *m,
			struct buf *out)
{
	unsigned width = width_of(m->max - m->min);

	buf_uleb(out, m->min);
	buf_u8(out, (uint8_t)width);

	uint8_t *p = buf_reserve(out, n * width + sizeof(uint64_t));

	for (size_t i = 0; i < n; i++, p += width) {
		uint64_t d = v[i] - m->min;

		memcpy(p, &d, sizeof(d)); /* the next one overwrites what is too much */
	}
	out->size += n * width;
}

static void write_runs(const uint64_t *v, size_t n, struct buf *out)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && v[end] == v[i];)
			end++;
		buf_uleb(out, v[i]);
		buf_uleb(out, end - i);
	}
}

static void write_palette(const uint64_t *v, size_t n, struct palette *palette,
			  struct buf *out)
{
	buf_uleb(out, palette->n);
	for (size_t i = 0; i < palette->n; i++)
		buf_uleb(out, palette->values[i]);

	uint8_t *p = buf_reserve(out, n);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(*palette_slot(palette, v[i]) - 1);
	out->size += n;
}

static unsigned bits_of(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static uint64_t gap(const uint64_t *v, size_t i, bool is_delta)
{
	return v[i] - (is_delta && i ? v[i - 1] : 0);
}

/* Gaps of all sizes: how many bits each takes is worth compressing, the bits are not. */
static void write_bits(const uint64_t *v, size_t n, bool is_delta,
		       struct squeeze *squeeze, struct buf *out)
{
	own(buf_fini) struct buf lengths = { 0 };
	own(buf_fini) struct buf bytes = { 0 };
	uint8_t *length = buf_reserve(&lengths, n);
	size_t n_bits = 0;

	for (size_t i = 0; i < n; i++) {
		length[i] = (uint8_t)bits_of(gap(v, i, is_delta));
		n_bits += length[i] ? length[i] - 1u : 0;
	}
	lengths.size = n;

	struct bits_writer bits = { .at = buf_reserve(&bytes,
						      n_bits / 8 + 1 + BITS_SPARE) };

	for (size_t i = 0; i < n; i++)
		if (length[i])
			bits_add(&bits, gap(v, i, is_delta), length[i] - 1u);
	bytes.size = (n_bits + 7) / 8;

	bool is_packed = squeeze_pack(squeeze, lengths.data, lengths.size);
	const struct buf *front = is_packed ? &squeeze->packed : &lengths;

	buf_uleb(out, front->size);
	buf_add(out, front->data, front->size);
	buf_add(out, bytes.data, bytes.size);
}

static void write_column(enum column_codec codec, const uint64_t *v, size_t n,
			 struct measure *m, struct squeeze *squeeze, struct buf *out)
{
	switch (codec) {
	case COLUMN_CODEC_CONSTANT:
		buf_uleb(out, v[0]);
		break;
	case COLUMN_CODEC_FIXED:
		write_fixed(v, n, m, out);
		break;
	case COLUMN_CODEC_VARINT:
		for (size_t i = 0; i < n; i++)
			buf_uleb(out, v[i]);
		break;
	case COLUMN_CODEC_DELTA:
		for (size_t i = 0; i < n; i++)
			buf_uleb(out, to_zigzag(v[i] - (i ? v[i - 1] : 0)));
		break;
	case COLUMN_CODEC_RUNS:
		write_runs(v, n, out);
		break;
	case COLUMN_CODEC_BITS:
	case COLUMN_CODEC_DELTA_BITS:
		write_bits(v, n, codec == COLUMN_CODEC_DELTA_BITS, squeeze, out);
		break;
	default:
		write_palette(v, n, &m->palette, out);
		break;
	}
}

/* The codec byte, the length and the bytes, compressed where that pays. */
static void encode_as(enum column_codec codec, const uint64_t *values, size_t n,
		      struct measure *m, struct squeeze *squeeze, struct buf *out)
{
	own(buf_fini) struct buf bytes = { 0 };

	if (n)
		write_column(codec, values, n, m, squeeze, &bytes);
	if (codec < COLUMN_CODEC_BITS && squeeze_pack(squeeze, bytes.data, bytes.size)) {
		buf_u8(out, (uint8_t)codec | COLUMN_CODEC_ZSTD);
		buf_uleb(out, squeeze->packed.size + uleb_bytes(bytes.size));
		buf_uleb(out, bytes.size);
		buf_add(out, squeeze->packed.data, squeeze->packed.size);
		return;
	}
	buf_u8(out, (uint8_t)codec);
	buf_uleb(out, bytes.size);
	buf_add(out, bytes.data, bytes.size);
}

static void encode_smallest(const uint64_t *values, size_t n, struct measure *m,
			    struct squeeze *squeeze, struct buf *out)
{
	struct buf best = { 0 }, tried = { 0 };

	for (unsigned codec = COLUMN_CODEC_FIXED; codec < COLUMN_CODEC_N; codec++) {
		if (codec == COLUMN_CODEC_PALETTE && m->palette.is_over)
			continue;
		buf_clear(&tried);
		encode_as(codec, values, n, m, squeeze, &tried);
		if (best.size && tried.size >= best.size)
			continue;

		struct buf worse = best;

		best = tried;
		tried = worse;
	}
	buf_add(out, best.data, best.size);
	buf_fini(&best);
	buf_fini(&tried);
}

void column_codec_encode(const uint64_t *values, size_t n, struct squeeze *squeeze,
			 struct buf *out)
{
	struct measure m = { 0 };

	if (n)
		measure(values, n, &m);
	if (n && m.n_runs > 1 && squeeze->level)
		encode_smallest(values, n, &m, squeeze, out);
	else
		encode_as(n ? choose(&m, n) : COLUMN_CODEC_CONSTANT, values, n, &m,
			  squeeze, out);
}

/* Where decoded values go.  Always inlined with a constant is_wide, so that each
 * decoder below is compiled into a narrow and a wide loop. */
struct column_out {
	void *at;
	bool is_wide;
	uint64_t high; /* of all values that had to fit into 32 bits */
};

#define INLINE static inline __attribute__((always_inline))

INLINE void put(struct column_out *o, size_t i, uint64_t v)
{
	if (o->is_wide) {
		((uint64_t *)o->at)[i] = v;
	} else {
		((uint32_t *)o->at)[i] = (uint32_t)v;
		o->high |= v >> 32;
	}
}

INLINE void read_constant(struct reader *r, size_t n, struct column_out *o)
{
	uint64_t v = reader_uleb(r);

	for (size_t i = 0; i < n; i++)
		put(o, i, v);
}

INLINE void read_fixed(struct reader *r, size_t n, struct column_out *o)
{
	uint64_t min = reader_uleb(r);
	unsigned width = reader_u8(r);

	if (width < 1 || width > 8) {
		r->bad = true;
		return;
	}

	const uint8_t *p = reader_bytes(r, n * width); /* n is at most 1 << 17 */

	if (!p)
		return;

	const uint64_t mask = ~UINT64_C(0) >> (64 - 8 * width);
	/* Whole words as long as eight bytes are there. */
	size_t fast = n * width >= 8 ? (n * width - 8) / width + 1 : 0;
	uint64_t word;

	for (size_t i = 0; i < fast; i++) {
		memcpy(&word, p + i * width, sizeof(word));
		put(o, i, min + (word & mask));
	}
	for (size_t i = fast; i < n; i++) {
		word = 0;
		memcpy(&word, p + i * width, width);
		put(o, i, min + word);
	}
}

/* As reader_uleb, but short enough to be inlined where every nanosecond shows. */
INLINE uint64_t read_varint(struct reader *r)
{
	if (r->at < r->end && *r->at < 0x80)
		return *r->at++;
	if (r->end - r->at >= 2 && r->at[1] < 0x80) {
		uint64_t v = (r->at[0] & 0x7fu) | (uint64_t)r->at[1] << 7;

		r->at += 2;
		return v;
	}
	return reader_uleb(r);
}

INLINE void read_varints(struct reader *r, size_t n, struct column_out *o)
{
	for (size_t i = 0; i < n && !r->bad; i++)
		put(o, i, read_varint(r));
}

INLINE void read_deltas(struct reader *r, size_t n, struct column_out *o)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n && !r->bad; i++) {
		v += from_zigzag(read_varint(r));
		put(o, i, v);
	}
}

INLINE void read_runs(struct reader *r, size_t n, struct column_out *o)
{
	for (size_t i = 0; i < n && !r->bad;) {
		uint64_t v = read_varint(r);
		uint64_t length = read_varint(r);

		if (length == 0 || length > n - i) {
			r->bad = true;
			return;
		}
		for (size_t end = i + length; i < end; i++)
			put(o, i, v);
	}
}

INLINE void read_palette(struct reader *r, size_t n, struct column_out *o)
{
	uint64_t values[PALETTE_MAX] = { 0 };
	size_t n_values = reader_count(r, 1);
	size_t highest = 0;

	if (n_values > PALETTE_MAX)
		r->bad = true;
	for (size_t i = 0; i < n_values && !r->bad; i++)
		values[i] = reader_uleb(r);

	const uint8_t *p = reader_bytes(r, n);

	if (!p)
		return;
	for (size_t i = 0; i < n; i++) {
		highest = p[i] > highest ? p[i] : highest;
		put(o, i, values[p[i]]);
	}
	if (n && highest >= n_values)
		r->bad = true;
}

/* The low bits of a value, of which the highest is not stored. */
INLINE uint64_t read_value(struct bits_reader *b, unsigned length, bool *is_bad)
{
	if (!length)
		return 0;
	if (length > 64 || bits_left(b) < length - 1) {
		*is_bad = true;
		return 0;
	}
	return UINT64_C(1) << (length - 1) | bits_take(b, length - 1);
}

/* scratch: the lengths, when they are compressed. */
INLINE void read_bits(struct reader *r, size_t n, bool is_delta, struct column_out *o,
		      struct buf *scratch)
{
	size_t size = reader_count(r, 1);
	const uint8_t *lengths = reader_bytes(r, size);
	size_t n_bytes = reader_left(r);
	const uint8_t *bytes = reader_bytes(r, n_bytes);
	struct bits_reader bits = { bytes, n_bytes, 0 };
	uint64_t v = 0;

	if (!lengths || !bytes) {
		r->bad = true;
		return;
	}
	if (size != n) {
		uint8_t *raw = buf_reserve(scratch, n);

		if (!squeeze_unpack(lengths, size, raw, n)) {
			r->bad = true;
			return;
		}
		lengths = raw;
	}
	for (size_t i = 0; i < n && !r->bad; i++) {
		uint64_t x = read_value(&bits, lengths[i], &r->bad);

		v = is_delta ? v + x : x;
		put(o, i, v);
	}
	if ((bits.next + 7) / 8 != n_bytes)
		r->bad = true;
}

INLINE bool read_column(unsigned codec, struct reader r, size_t n, struct column_out o,
			struct buf *scratch)
{
	switch (codec) {
	case COLUMN_CODEC_CONSTANT:
		read_constant(&r, n, &o);
		break;
	case COLUMN_CODEC_FIXED:
		read_fixed(&r, n, &o);
		break;
	case COLUMN_CODEC_VARINT:
		read_varints(&r, n, &o);
		break;
	case COLUMN_CODEC_DELTA:
		read_deltas(&r, n, &o);
		break;
	case COLUMN_CODEC_RUNS:
		read_runs(&r, n, &o);
		break;
	case COLUMN_CODEC_PALETTE:
		read_palette(&r, n, &o);
		break;
	case COLUMN_CODEC_BITS:
		read_bits(&r, n, false, &o, scratch);
		break;
	case COLUMN_CODEC_DELTA_BITS:
		read_bits(&r, n, true, &o, scratch);
		break;
	default:
		return false;
	}
	return !r.bad && !reader_left(&r) && !o.high;
}

static bool read_narrow(unsigned codec, struct reader r, size_t n, void *out,
			struct buf *scratch)
{
	return read_column(codec, r, n, (struct column_out){ out, false, 0 }, scratch);
}

static bool read_wide(unsigned codec, struct reader r, size_t n, void *out,
		      struct buf *scratch)
{
	return read_column(codec, r, n, (struct column_out){ out, true, 0 }, scratch);
}

/* The most that any codec takes for n values: two varints each, and a palette. */
static size_t raw_bound(size_t n)
{
	return n * 20 + PALETTE_MAX * 10 + 64;
}

bool column_codec_decode(unsigned codec, const uint8_t *data, size_t size, size_t n,
			 bool is_wide, void *out, struct buf *scratch)
{
	struct reader r = reader_over(data, size);

	if (!n)
		return true;
	if (codec & COLUMN_CODEC_ZSTD) {
		uint64_t raw = reader_uleb(&r);

		if (r.bad || raw > raw_bound(n))
			return false;
		buf_clear(scratch);

		uint8_t *p = buf_reserve(scratch, (size_t)raw);

		if (!squeeze_unpack(r.at, reader_left(&r), p, (size_t)raw))
			return false;
		if ((codec & ~(unsigned)COLUMN_CODEC_ZSTD) >= COLUMN_CODEC_BITS)
			return false; /* has its own: its bits do not compress */
		r = reader_over(p, (size_t)raw);
		codec &= ~(unsigned)COLUMN_CODEC_ZSTD;
	} else
		buf_clear(scratch);
	return is_wide ? read_wide(codec, r, n, out, scratch)
		       : read_narrow(codec, r, n, out, scratch);
}
