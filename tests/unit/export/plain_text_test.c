/* SPDX-License-Identifier: Apache-2.0 */
#include "export/plain_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

static void assert_plain(const char *s, char reserved, const char *instead,
			 const char *want)
{
	own(buf_fini) struct buf b = { 0 };

	plain_text_add(&b, s, reserved, instead);
	assert_string_equal(buf_str(&b), want);
}

static void ordinary_text_stays_as_it_is(unused void **state)
{
	assert_plain("", 0, NULL, "");
	assert_plain("operator<<(std::ostream&, int)", 0, NULL,
		     "operator<<(std::ostream&, int)");
	assert_plain("gr\xc3\xb6\xc3\x9f"
		     "e",
		     0, NULL,
		     "gr\xc3\xb6\xc3\x9f"
		     "e");
}

static void control_characters_are_spelled_out(unused void **state)
{
	assert_plain("a\nb\x1b[2J\x7f", 0, NULL, "a\\x0ab\\x1b[2J\\x7f");
	/* CSI as one character, U+009B. */
	assert_plain("\xc2\x9b"
		     "2J",
		     0, NULL,
		     "\\xc2\\x9b"
		     "2J");
}

static void bytes_that_are_not_utf8_are_spelled_out(unused void **state)
{
	assert_plain("\xff"
		     "a\xc3",
		     0, NULL, "\\xffa\\xc3");
}

static void a_reserved_character_is_replaced(unused void **state)
{
	assert_plain("Ljava/lang/String;", ';', ":", "Ljava/lang/String:");
	assert_plain("say \"x\"", '"', "\"\"", "say \"\"x\"\"");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_text_stays_as_it_is),
		cmocka_unit_test(control_characters_are_spelled_out),
		cmocka_unit_test(bytes_that_are_not_utf8_are_spelled_out),
		cmocka_unit_test(a_reserved_character_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
