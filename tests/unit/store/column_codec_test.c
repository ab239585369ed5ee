/* SPDX-License-Identifier: Apache-2.0 */
#include "store/column_codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/reader.h"

#define N_MAX 3000

typedef uint64_t shape_fn(uint64_t i, uint64_t random);

static uint64_t constant(uint64_t i, uint64_t random)
{
	(void)i;
	(void)random;
	return UINT64_MAX - 5;
}

static uint64_t small(uint64_t i, uint64_t random)
{
	(void)i;
	return 1000 + random % 200;
}

static uint64_t rising(uint64_t i, uint64_t random)
{
	return UINT64_C(1) << 40 | (i * 1000000 + random % 5000);
}

static uint64_t falling(uint64_t i, uint64_t random)
{
	(void)random;
	return UINT64_MAX - i * UINT64_C(12345678901);
}

static uint64_t runs(uint64_t i, uint64_t random)
{
	(void)random;
	return i / 100 * UINT64_C(0x123456789abcdef);
}

static uint64_t few(uint64_t i, uint64_t random)
{
	(void)i;
	return random % 256 * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t many(uint64_t i, uint64_t random)
{
	(void)i;
	return random % 257 * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t skewed(uint64_t i, uint64_t random)
{
	(void)i;
	return random % 50 ? random % 100 : random;
}

static uint64_t wild(uint64_t i, uint64_t random)
{
	(void)i;
	return random;
}

/* Every length of bits there is, 0 and 64 too, as the codec of bits likes them best. */
static uint64_t lengths(uint64_t i, uint64_t random)
{
	unsigned length = (unsigned)(i * 7 % 65);

	return length ? (random | UINT64_C(1) << 63) >> (64 - length) : 0;
}

static shape_fn *const shapes[] = { constant, small, rising, falling, runs,
				    few,      many,  skewed, wild,    lengths };

static bool decode(const struct buf *bytes, size_t n, bool is_wide, void *out)
{
	own(buf_fini) struct buf scratch = { 0 };
	struct reader r = reader_over(bytes->data, bytes->size);
	unsigned codec = reader_u8(&r);
	size_t size = reader_count(&r, 1);
	/* An exact-size copy: a sanitizer sees what is read behind it. */
	own(freep) uint8_t *exact = xmemdup(r.at, size);

	assert_int_equal(reader_left(&r), size);
	return column_codec_decode(codec, exact, size, n, is_wide, out, &scratch);
}

static void check_shape(shape_fn *shape, size_t n, uint64_t mask, struct squeeze *squeeze)
{
	own(freep) uint64_t *in = xcalloc(n, 8);
	own(freep) uint64_t *wide = xcalloc(n, 8);
	own(freep) uint32_t *narrow = xcalloc(n, 4);
	own(buf_fini) struct buf bytes = { 0 };
	uint64_t high = 0;

	for (size_t i = 0; i < n; i++) {
		in[i] = shape(i, hash_u64(i + n * 977 + 1)) & mask;
		high |= in[i] >> 32;
	}
	column_codec_encode(in, n, squeeze, &bytes);
	assert_true(decode(&bytes, n, true, wide));
	assert_true(!n || memcmp(in, wide, n * 8) == 0);
	/* What does not fit is refused, not cut. */
	assert_int_equal(decode(&bytes, n, false, narrow), !high);
	for (size_t i = 0; i < n && !high; i++)
		assert_int_equal(narrow[i], in[i]);
}

static void every_column_comes_back(void **state)
{
	static const uint64_t masks[] = { UINT64_MAX, UINT32_MAX, 0xffffff, 0xff };
	own(squeeze_fini) struct squeeze squeeze = { 0 };
	own(squeeze_fini) struct squeeze thorough = { .level = 9 };

	(void)state;
	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
			for (size_t n = 0; n < N_MAX; n = n < 20 ? n + 1 : n * 3)
				check_shape(shapes[s], n, masks[m],
					    m % 2 ? &squeeze : &thorough);
}

static size_t encoded_size(shape_fn *shape, size_t n)
{
	own(squeeze_fini) struct squeeze squeeze = { 0 };
	own(buf_fini) struct buf bytes = { 0 };
	own(freep) uint64_t *in = xcalloc(n, 8);

	for (size_t i = 0; i < n; i++)
		in[i] = shape(i, hash_u64(i));
	column_codec_encode(in, n, &squeeze, &bytes);
	return bytes.size;
}

static void the_codec_fits_the_values(void **state)
{
	(void)state;
	assert_true(encoded_size(constant, 10000) < 20);
	assert_true(encoded_size(small, 10000) < 10100);
	assert_true(encoded_size(rising, 10000) < 30200);
	assert_true(encoded_size(runs, 10000) < 1000);
	assert_true(encoded_size(few, 10000) < 13000);
	assert_true(encoded_size(wild, 10000) < 80100);
}

/* Of ascending places with gaps of all sizes the bits are worth nothing more than what
 * they say: about the logarithm of the mean gap. */
static void gaps_take_little_more_than_their_bits(void **state)
{
	own(squeeze_fini) struct squeeze thorough = { .level = 9 };
	own(buf_fini) struct buf bytes = { 0 };
	own(freep) uint64_t *in = xcalloc(N_MAX, 8);
	uint64_t at = 0;

	(void)state;
	for (size_t i = 0; i < N_MAX; i++) {
		at += 1 + (hash_u64(i) % 1024 >> hash_u64(~i) % 8);
		in[i] = at;
	}
	column_codec_encode(in, N_MAX, &thorough, &bytes);
	assert_int_equal(bytes.data[0], COLUMN_CODEC_DELTA_BITS);
	assert_true(bytes.size < N_MAX * 9 / 8);
}

static void bits_are_chosen_for_every_length(void **state)
{
	own(squeeze_fini) struct squeeze thorough = { .level = 9 };
	own(buf_fini) struct buf bytes = { 0 };
	own(freep) uint64_t *in = xcalloc(N_MAX, 8);

	(void)state;
	for (size_t i = 0; i < N_MAX; i++)
		in[i] = lengths(i, hash_u64(i));
	column_codec_encode(in, N_MAX, &thorough, &bytes);
	assert_int_equal(bytes.data[0], COLUMN_CODEC_BITS);
	check_shape(lengths, N_MAX, UINT64_MAX, &thorough);
}

static void malformed_columns_are_refused(void **state)
{
	static const struct {
		unsigned codec;
		const char *bytes;
		size_t size, n;
	} t[] = {
		{ 99, "\x01", 1, 1 }, /* unknown codec */
		{ COLUMN_CODEC_CONSTANT, "", 0, 1 },
		{ COLUMN_CODEC_CONSTANT, "\x01\x01", 2, 5 }, /* a byte too many */
		{ COLUMN_CODEC_FIXED, "\x00\x00", 2, 1 },    /* no width */
		{ COLUMN_CODEC_FIXED, "\x00\x09xxxxxxxxx", 11, 1 },
		{ COLUMN_CODEC_FIXED, "\x00\x02xxx", 5, 2 },
		{ COLUMN_CODEC_VARINT, "\x01\x80", 2, 2 },
		{ COLUMN_CODEC_DELTA, "\x01", 1, 2 },
		{ COLUMN_CODEC_RUNS, "\x01\x00\x01\x02", 4, 2 }, /* an empty run */
		{ COLUMN_CODEC_RUNS, "\x01\x03", 2, 2 },	 /* too long */
		{ COLUMN_CODEC_RUNS, "\x01\x01", 2, 2 },	 /* too short */
		{ COLUMN_CODEC_PALETTE, "\x02\x07\x08\x00\x02", 5, 2 },
		{ COLUMN_CODEC_PALETTE, "\x00\x00", 2, 1 },
		{ COLUMN_CODEC_ZSTD, "\xff\xff\xff\xff\x7f", 5, 2 }, /* too large */
		{ COLUMN_CODEC_ZSTD, "\x04zstd", 5, 2 },
		{ COLUMN_CODEC_BITS, "\x02\x01\x41", 3, 2 },	     /* 65 bits */
		{ COLUMN_CODEC_BITS, "\x02\x02\x09\x01", 4, 2 },     /* too few bits */
		{ COLUMN_CODEC_BITS, "\x02\x02\x02\x01\x00", 5, 2 }, /* too many */
		{ COLUMN_CODEC_BITS, "\x03\x02\x02\x01\x00", 5, 2 }, /* no frame */
		{ COLUMN_CODEC_BITS, "\x02\x01", 2, 2 },
		{ COLUMN_CODEC_BITS | COLUMN_CODEC_ZSTD, "\x02\x02\x02\x01", 4, 2 },
	};
	uint32_t out[8];
	own(buf_fini) struct buf scratch = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (column_codec_decode(t[i].codec, (const uint8_t *)t[i].bytes,
					t[i].size, t[i].n, false, out, &scratch))
			fail_msg("column %zu was accepted", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_column_comes_back),
		cmocka_unit_test(the_codec_fits_the_values),
		cmocka_unit_test(gaps_take_little_more_than_their_bits),
		cmocka_unit_test(bits_are_chosen_for_every_length),
		cmocka_unit_test(malformed_columns_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
