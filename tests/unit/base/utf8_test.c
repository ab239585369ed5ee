/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void valid_characters_have_their_length_and_code_point(void **state)
{
	static const struct {
		const char *s;
		size_t len;
		uint32_t code;
	} t[] = {
		{ "a", 1, 'a' },
		{ "\x7f", 1, 0x7f },
		{ "\xc2\x80", 2, 0x80 },
		{ "\xdf\xbf", 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 0xd7ff },
		{ "\xee\x80\x80", 3, 0xe000 },
		{ "\xef\xbf\xbf", 3, 0xffff },
		{ "\xf0\x90\x80\x80", 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(utf8_length(t[i].s, strlen(t[i].s)), t[i].len);
		assert_int_equal(utf8_decode(t[i].s, t[i].len), t[i].code);
	}
}

static void what_is_not_utf8_has_no_length(void **state)
{
	static const char *const bad[] = {
		"\x80",	    /* a continuation alone */
		"\xc0\x80", /* overlong forms */
		"\xc1\xbf",
		"\xe0\x9f\xbf",
		"\xf0\x8f\xbf\xbf",
		"\xed\xa0\x80",	    /* a surrogate */
		"\xf4\x90\x80\x80", /* beyond U+10FFFF */
		"\xf5\x80\x80\x80",
		"\xff",
		"\xc3(", /* a missing continuation */
		"\xe2\x82(",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(utf8_length(bad[i], strlen(bad[i])), 0);
}

static void a_character_that_is_cut_is_not_one(void **state)
{
	(void)state;
	assert_int_equal(utf8_length("\xf0\x90\x80\x80", 3), 0);
	assert_int_equal(utf8_length("\xe2\x82\xac", 2), 0);
	assert_int_equal(utf8_length("\xc2\x80", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_characters_have_their_length_and_code_point),
		cmocka_unit_test(what_is_not_utf8_has_no_length),
		cmocka_unit_test(a_character_that_is_cut_is_not_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
