/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/function_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t add(struct function_table *t, const char *linkage, uint32_t image)
{
	return function_table_add(
		t, &(struct function_key){ .image = image, .linkage = linkage });
}

static void a_function_is_entered_once(void **state)
{
	struct function_table *t = function_table_new(false);
	uint32_t id = add(t, "_ZN5shape4areaEi", 1);

	(void)state;
	assert_string_equal(function_table_get(t, id)->name, "shape::area(int)");
	assert_string_equal(function_table_get(t, id)->linkage, "_ZN5shape4areaEi");
	assert_int_equal(add(t, "_ZN5shape4areaEi", 1), id);
	assert_int_not_equal(add(t, "_ZN5shape4areaEi", 2), id);
	function_table_free(t);
}

static void a_version_is_no_part_of_a_name(void **state)
{
	static const struct {
		const char *linkage, *name;
	} names[] = {
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "memcpy@GLIBC_2.2.5", "memcpy" },
		{ "memcpy@plt", "memcpy@plt" },
		{ "@odd", "@odd" },
	};
	struct function_table *t = function_table_new(false);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(
			function_table_get(t, add(t, names[i].linkage, 0))->name,
			names[i].name);
	assert_int_equal(function_table_count(t), 3);
	function_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_entered_once),
		cmocka_unit_test(a_version_is_no_part_of_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
