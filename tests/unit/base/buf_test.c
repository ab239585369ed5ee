/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/reader.h"

static void what_is_written_is_read_back(void **state)
{
	static const uint64_t numbers[] = {
		0,     1,	   127,	      128,	  16383,
		16384, UINT32_MAX, INT64_MAX, 1ull << 63, UINT64_MAX,
	};
	struct buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		buf_uleb(&b, numbers[i]);
		buf_sleb(&b, (int64_t)numbers[i]);
		buf_zigzag(&b, (int64_t)numbers[i]);
		buf_u64le(&b, numbers[i]);
	}
	buf_u8(&b, 0xab);
	buf_u16le(&b, 0x1234);
	buf_u32le(&b, 0x12345678);

	struct reader r = reader_over(b.data, b.size);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_true(reader_uleb(&r) == numbers[i]);
		assert_true(reader_sleb(&r) == (int64_t)numbers[i]);
		assert_true(reader_zigzag(&r) == (int64_t)numbers[i]);
		assert_true(reader_u64le(&r) == numbers[i]);
	}
	assert_int_equal(reader_u8(&r), 0xab);
	assert_int_equal(reader_u16le(&r), 0x1234);
	assert_int_equal(reader_u32le(&r), 0x12345678);
	assert_false(r.bad);
	assert_int_equal(reader_left(&r), 0);
	buf_fini(&b);
}

static void small_numbers_of_either_sign_take_one_byte(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_zigzag(&b, -64);
	buf_zigzag(&b, 63);
	buf_sleb(&b, -64);
	buf_uleb(&b, 127);
	assert_int_equal(b.size, 4);
	buf_fini(&b);
}

static void a_text_grows_and_is_terminated(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_string_equal(buf_str(&b), "");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%03d,", i);
	buf_puts(&b, "end");
	assert_int_equal(b.size, 4003);
	assert_string_equal(buf_str(&b) + 3996, "999,end");
	buf_clear(&b);
	assert_string_equal(buf_str(&b), "");
	buf_fini(&b);
	assert_null(b.data);
}

static void reserved_room_is_not_yet_content(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_reserve(&b, 100000)[99999] = 1;
	assert_int_equal(b.size, 0);
	buf_add(&b, NULL, 0);
	assert_int_equal(b.size, 0);
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(small_numbers_of_either_sign_take_one_byte),
		cmocka_unit_test(a_text_grows_and_is_terminated),
		cmocka_unit_test(reserved_room_is_not_yet_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
