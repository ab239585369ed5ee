/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/eh_cursor.h"

#define MINUS(n) (UINT64_C(0) - (n))

static const uint8_t ff[10] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

static void every_pointer_encoding_is_read(void **state)
{
	static const struct {
		uint8_t encoding;
		const char *bytes;
		size_t size;
		uint64_t value;
	} t[] = {
		{ EH_ABSOLUTE, "\1\2\3\4\5\6\7\x08", 8, 0x0807060504030201 },
		{ EH_ULEB, "\x80\x01", 2, 128 },
		{ EH_SLEB, "\x7f", 1, MINUS(1) },
		{ EH_UDATA2, "\xfe\xff", 2, 0xfffe },
		{ EH_SDATA2, "\xfe\xff", 2, MINUS(2) },
		{ EH_UDATA4, "\xfe\xff\xff\xff", 4, 0xfffffffe },
		{ EH_SDATA4, "\xfe\xff\xff\xff", 4, MINUS(2) },
		{ EH_UDATA8, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, MINUS(2) },
		{ EH_SDATA8, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, MINUS(2) },
		{ EH_PC_RELATIVE | EH_SDATA4, "\xfe\xff\xff\xff", 4, 0x4ffe },
		{ EH_DATA_RELATIVE | EH_SDATA4, "\x10\x00\x00\x00", 4, 0x7010 },
		{ EH_INDIRECT | EH_UDATA2, "\x10\x00", 2, 0x10 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct eh_cursor c =
			eh_cursor_over((const uint8_t *)t[i].bytes, t[i].size, 0x5000);

		assert_int_equal(eh_cursor_pointer(&c, t[i].encoding, 0x7000),
				 t[i].value);
		assert_false(c.bad);
		assert_int_equal(eh_cursor_left(&c), 0);
		assert_int_equal(c.addr, 0x5000 + t[i].size);
	}
}

static void other_encodings_are_bad(void **state)
{
	static const uint8_t encodings[] = { 0x20, 0x40, 0x50, 0x05, 0x0f, EH_OMIT };

	(void)state;
	for (size_t i = 0; i < sizeof(encodings); i++) {
		struct eh_cursor c = eh_cursor_over(ff, sizeof(ff), 0);

		eh_cursor_pointer(&c, encodings[i], 0);
		assert_true(c.bad);
	}
}

static void numbers_beyond_64_bits_are_bad(void **state)
{
	static const uint8_t most[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0x01 };
	static const uint8_t least[] = { 0x80, 0x80, 0x80, 0x80, 0x80,
					 0x80, 0x80, 0x80, 0x80, 0x7f };
	struct eh_cursor c = eh_cursor_over(most, sizeof(most), 0);

	(void)state;
	assert_int_equal(eh_cursor_uleb(&c), UINT64_MAX);
	assert_false(c.bad);
	c = eh_cursor_over(least, sizeof(least), 0);
	assert_int_equal((uint64_t)eh_cursor_sleb(&c), (uint64_t)INT64_MIN);
	assert_false(c.bad);
	c = eh_cursor_over(ff, sizeof(ff), 0);
	eh_cursor_uleb(&c);
	assert_true(c.bad);
	c = eh_cursor_over(ff, sizeof(ff), 0);
	eh_cursor_sleb(&c);
	assert_true(c.bad);
}

static void failure_sticks(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3 };
	struct eh_cursor c = eh_cursor_over(bytes, sizeof(bytes), 0);

	(void)state;
	assert_int_equal(eh_cursor_u32(&c), 0);
	assert_true(c.bad);
	assert_int_equal(eh_cursor_left(&c), 0);
	assert_int_equal(eh_cursor_u8(&c), 0);
	assert_null(eh_cursor_bytes(&c, 1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pointer_encoding_is_read),
		cmocka_unit_test(other_encodings_are_bad),
		cmocka_unit_test(numbers_beyond_64_bits_are_bad),
		cmocka_unit_test(failure_sticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
