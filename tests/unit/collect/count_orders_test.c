/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void functions_are_named_by_file_and_offset(void **state)
{
	static const struct code_place under[] = {
		{ .device = 0xfe01, .inode = 77, .offset = 0x1139, .size = 5 },
		{ .device = 3, .inode = 0xabcdef0123456789, .offset = 0 },
	};
	char text[COUNT_FLAGS_MAX];

	(void)state;
	count_orders_make(&(struct scope){ .under = under, .n_under = 2 }, text);
	assert_string_equal(text, "-:fe01.4d.1139,3.abcdef0123456789.0");
}

static void no_functions_are_named_where_none_are_chosen(void **state)
{
	char text[COUNT_FLAGS_MAX];

	(void)state;
	count_orders_make(&(struct scope){ 0 }, text);
	assert_string_equal(text, "-");
}

static void the_longest_has_room(void **state)
{
	struct code_place under[COUNT_ORDERS_UNDER_MAX + 1];
	char text[COUNT_FLAGS_MAX];

	(void)state;
	memset(under, 0xff, sizeof(under));
	count_orders_make(
		&(struct scope){ .under = under, .n_under = COUNT_ORDERS_UNDER_MAX + 1 },
		text);
	assert_int_equal(strlen(text), 1 + COUNT_ORDERS_UNDER_MAX * 51);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_named_by_file_and_offset),
		cmocka_unit_test(no_functions_are_named_where_none_are_chosen),
		cmocka_unit_test(the_longest_has_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
