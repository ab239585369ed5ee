/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/control_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void what_is_added_is_found_by_its_whole_name(void **state)
{
	struct buf b = { 0 };
	char text[16];

	(void)state;
	control_lines_add(&b, "lost-samples", 7);
	control_lines_add(&b, "lost", UINT64_MAX);
	control_lines_add_text(&b, "label", "two\nlines=1");
	assert_int_equal(control_lines_number(buf_str(&b), "lost"), UINT64_MAX);
	assert_int_equal(control_lines_number(buf_str(&b), "lost-samples"), 7);
	assert_int_equal(control_lines_number(buf_str(&b), "samples"), 0);
	control_lines_text(buf_str(&b), "label", text, sizeof(text));
	assert_string_equal(text, "two lines=1");
	control_lines_text(buf_str(&b), "lines", text, sizeof(text));
	assert_string_equal(text, "");
	buf_fini(&b);
}

static void a_long_text_is_cut(void **state)
{
	char text[4];

	(void)state;
	control_lines_text("a=abcdefgh\n", "a", text, sizeof(text));
	assert_string_equal(text, "abc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_added_is_found_by_its_whole_name),
		cmocka_unit_test(a_long_text_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
