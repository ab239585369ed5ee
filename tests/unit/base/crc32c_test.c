/* SPDX-License-Identifier: Apache-2.0 */
/* The source itself, to see both implementations. */
#include "base/crc32c.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* RFC 3720 B.4, and the usual check value. */
static void known_vectors(void **state)
{
	uint8_t bytes[32];

	(void)state;
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, "", 0), 0);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(crc32c(0, bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(crc32c(0, bytes, sizeof(bytes)), 0x46dd794e);
}

static void portable_and_hardware_agree(void **state)
{
	uint8_t bytes[300];

	(void)state;
	if (!has_hardware())
		skip();
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 151 + i / 7);
	for (size_t from = 0; from < 9; from++)
		for (size_t n = 0; n < sizeof(bytes) - 9; n += 5)
			assert_int_equal(hardware(~0u, bytes + from, n),
					 portable(~0u, bytes + from, n));
}

static void a_checksum_can_be_taken_in_parts(void **state)
{
	static const char text[] = "a profile is appended block by block";
	uint32_t whole = crc32c(0, text, sizeof(text));

	(void)state;
	for (size_t cut = 0; cut <= sizeof(text); cut++)
		assert_int_equal(
			crc32c(crc32c(0, text, cut), text + cut, sizeof(text) - cut),
			whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_vectors),
		cmocka_unit_test(portable_and_hardware_agree),
		cmocka_unit_test(a_checksum_can_be_taken_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
