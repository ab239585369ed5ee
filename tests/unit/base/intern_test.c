/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

static void equal_strings_have_one_id(void **state)
{
	own(intern_freep) struct intern *in = intern_new();
	uint32_t a = intern_str(in, "a"), b = intern_add(in, "bc", 2);

	(void)state;
	assert_int_equal(a, 1);
	assert_int_equal(b, 2);
	assert_int_equal(intern_add(in, "abc", 1), a);
	assert_int_equal(intern_str(in, "bc"), b);
	assert_int_equal(intern_count(in), 3);
}

static void id_0_is_the_empty_string(void **state)
{
	own(intern_freep) struct intern *in = intern_new();

	(void)state;
	assert_int_equal(intern_str(in, ""), 0);
	assert_int_equal(intern_str(in, NULL), 0);
	assert_string_equal(intern_get(in, 0), "");
	assert_string_equal(intern_get(in, 12345), "");
	assert_int_equal(intern_len(in, 12345), 0);
}

static void strings_may_hold_zero_bytes(void **state)
{
	own(intern_freep) struct intern *in = intern_new();
	uint32_t id = intern_add(in, "a\0b", 3);

	(void)state;
	assert_int_not_equal(id, intern_add(in, "a\0c", 3));
	assert_int_not_equal(id, intern_str(in, "a"));
	assert_int_equal(intern_len(in, id), 3);
	assert_memory_equal(intern_get(in, id), "a\0b", 4);
}

static void many_strings_stay_where_they_are(void **state)
{
	own(intern_freep) struct intern *in = intern_new();
	const char *first = intern_get(in, intern_str(in, "first"));
	char name[16];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(intern_str(in, name), i + 2);
	}
	assert_ptr_equal(intern_get(in, 1), first);
	assert_int_equal(intern_find(in, "n777", 4), 779);
	assert_int_equal(intern_find(in, "none", 4), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_have_one_id),
		cmocka_unit_test(id_0_is_the_empty_string),
		cmocka_unit_test(strings_may_hold_zero_bytes),
		cmocka_unit_test(many_strings_stay_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
