/* SPDX-License-Identifier: Apache-2.0 */
#include "export/protobuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

static void assert_bytes(const struct buf *b, const char *want, size_t n)
{
	assert_int_equal(b->size, n);
	assert_memory_equal(b->data, want, n);
}

static void a_number_is_a_key_and_a_varint(unused void **state)
{
	own(buf_fini) struct buf b = { 0 };

	/* The first example of the encoding's documentation. */
	protobuf_u64(&b, 1, 150);
	assert_bytes(&b, "\x08\x96\x01", 3);
}

static void zero_is_not_written(unused void **state)
{
	own(buf_fini) struct buf b = { 0 };

	protobuf_u64(&b, 1, 0);
	protobuf_packed(&b, 2, NULL, 0);
	assert_int_equal(b.size, 0);
}

static void text_is_length_delimited(unused void **state)
{
	own(buf_fini) struct buf b = { 0 };

	protobuf_bytes(&b, 2, "testing", 7);
	assert_bytes(&b, "\x12\x07testing", 9);
}

static void a_field_number_above_15_takes_two_bytes(unused void **state)
{
	own(buf_fini) struct buf b = { 0 };

	protobuf_u64(&b, 16, 1);
	assert_bytes(&b, "\x80\x01\x01", 3);
}

static void packed_numbers_state_their_size_in_bytes(unused void **state)
{
	static const uint64_t v[] = { 3, 270, 86942, 0, UINT64_MAX };
	own(buf_fini) struct buf b = { 0 };

	protobuf_packed(&b, 6, v, 5);
	assert_bytes(&b,
		     "\x32\x11\x03\x8e\x02\x9e\xa7\x05\x00"
		     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		     19);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_a_key_and_a_varint),
		cmocka_unit_test(zero_is_not_written),
		cmocka_unit_test(text_is_length_delimited),
		cmocka_unit_test(a_field_number_above_15_takes_two_bytes),
		cmocka_unit_test(packed_numbers_state_their_size_in_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
