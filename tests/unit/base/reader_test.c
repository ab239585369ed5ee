/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reader.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void fixed_numbers_are_little_endian(void **state)
{
	static const uint8_t bytes[] = { 1,    2,    3,	   4,	 5,    6,    7,	  8,
					 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77 };
	struct reader r = reader_over(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(reader_u64le(&r), 0x0807060504030201);
	assert_int_equal(reader_u32le(&r), 0x44332211);
	assert_int_equal(reader_u16le(&r), 0x6655);
	assert_int_equal(reader_u8(&r), 0x77);
	assert_false(r.bad);
	assert_int_equal(reader_left(&r), 0);
}

static void failure_sticks_and_keeps_the_offset(void **state)
{
	struct reader r = reader_over("abcde", 5);

	(void)state;
	reader_skip(&r, 3);
	assert_int_equal(reader_u32le(&r), 0);
	assert_true(r.bad);
	assert_int_equal(reader_offset(&r), 3);
	assert_int_equal(reader_u8(&r), 0);
	assert_null(reader_bytes(&r, 1));
	assert_null(reader_bytes(&r, 0));
	assert_int_equal(reader_left(&r), 0);
	reader_seek(&r, 0);
	assert_true(r.bad);
}

static void nothing_can_be_read_from_nothing(void **state)
{
	struct reader r = reader_over(NULL, 0);

	(void)state;
	assert_int_equal(reader_left(&r), 0);
	reader_seek(&r, 0);
	assert_non_null(reader_bytes(&r, 0));
	assert_int_equal(reader_offset(&r), 0);
	assert_false(r.bad);
	assert_null(reader_cstr(&r));
	assert_true(r.bad);
}

static void a_seek_stays_inside(void **state)
{
	struct reader r = reader_over("abc", 3);

	(void)state;
	reader_seek(&r, 2);
	assert_int_equal(reader_u8(&r), 'c');
	reader_seek(&r, 3);
	assert_false(r.bad);
	reader_seek(&r, 4);
	assert_true(r.bad);
}

static void leb_numbers_of_every_size_are_read(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		uint64_t want;
	} t[] = {
		{ "\x00", 1, 0 },
		{ "\x7f", 1, 127 },
		{ "\x80\x01", 2, 128 },
		{ "\xe5\x8e\x26", 3, 624485 },
		{ "\x81\x80\x00", 3, 1 }, /* padded, as linkers write them */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct reader r = reader_over(t[i].bytes, t[i].size);

		assert_true(reader_uleb(&r) == t[i].want);
		assert_false(r.bad);
		assert_int_equal(reader_left(&r), 0);
	}
}

static void a_leb_number_that_does_not_fit_is_bad(void **state)
{
	struct reader too_big =
		reader_over("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
	struct reader too_long =
		reader_over("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11);
	struct reader cut = reader_over("\x80", 1);

	(void)state;
	assert_int_equal(reader_uleb(&too_big), 0);
	assert_true(too_big.bad);
	assert_int_equal(reader_uleb(&too_long), 0);
	assert_true(too_long.bad);
	assert_int_equal(reader_uleb(&cut), 0);
	assert_true(cut.bad);
}

static void signed_leb_numbers_are_extended(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		int64_t want;
	} t[] = {
		{ "\x02", 1, 2 },
		{ "\x7e", 1, -2 },
		{ "\xff\x00", 2, 127 },
		{ "\x81\x7f", 2, -127 },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, INT64_MIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct reader r = reader_over(t[i].bytes, t[i].size);

		assert_true(reader_sleb(&r) == t[i].want);
		assert_false(r.bad);
	}
}

static void a_count_may_not_exceed_what_is_left(void **state)
{
	static const struct {
		const char *bytes;
		size_t size, each, want;
		bool bad;
	} t[] = {
		{ "\x02....", 5, 2, 2, false },
		{ "\x03....", 5, 2, 0, true },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 1, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct reader r = reader_over(t[i].bytes, t[i].size);

		assert_int_equal(reader_count(&r, t[i].each), t[i].want);
		assert_int_equal(r.bad, t[i].bad);
	}
}

static void a_string_ends_inside_the_bytes(void **state)
{
	struct reader r = reader_over("one\0two", 7);

	(void)state;
	assert_string_equal(reader_cstr(&r), "one");
	assert_null(reader_cstr(&r));
	assert_true(r.bad);
	assert_int_equal(reader_offset(&r), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_numbers_are_little_endian),
		cmocka_unit_test(failure_sticks_and_keeps_the_offset),
		cmocka_unit_test(nothing_can_be_read_from_nothing),
		cmocka_unit_test(a_seek_stays_inside),
		cmocka_unit_test(leb_numbers_of_every_size_are_read),
		cmocka_unit_test(a_leb_number_that_does_not_fit_is_bad),
		cmocka_unit_test(signed_leb_numbers_are_extended),
		cmocka_unit_test(a_count_may_not_exceed_what_is_left),
		cmocka_unit_test(a_string_ends_inside_the_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
