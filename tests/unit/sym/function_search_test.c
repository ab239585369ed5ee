/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/function_search.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SELF "/proc/self/exe"
#define CODE 12

int function_search_test_global(int x);
int function_search_test_alias(int x)
	__attribute__((alias("function_search_test_global")));

__attribute__((noinline)) int function_search_test_global(int x)
{
	__asm__ volatile("" : "+r"(x));
	return 3 * x + 0x1234;
}

static void a_function_is_found_where_the_file_has_its_code(void **state)
{
	static const char *const names[] = { "function_search_test_global",
					     "function_search_test_alias" };
	own(function_search_freep) struct function_search *s = NULL;
	own(closep) int fd = open(SELF, O_RDONLY | O_CLOEXEC);
	struct function_search_hit hit;
	uint8_t code[CODE];

	(void)state;
	assert_int_equal(function_search_open(SELF, &s, NULL), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(function_search_find(s, names[i], &hit, 1), 1);
		assert_int_equal(pread(fd, code, CODE, (off_t)hit.offset), CODE);
		assert_memory_equal(code, (const void *)function_search_test_global,
				    CODE);
		assert_true(hit.end - hit.address >= 8);
	}
}

static void its_code_can_be_read(void **state)
{
	own(function_search_freep) struct function_search *s = NULL;
	own(buf_fini) struct buf code = { 0 };
	struct function_search_hit hit;

	(void)state;
	assert_int_equal(function_search_open(SELF, &s, NULL), 0);
	assert_int_equal(function_search_find(s, "function_search_test_global", &hit, 1),
			 1);
	assert_int_equal(function_search_code(s, &hit, &code), hit.end - hit.address);
	assert_memory_equal(code.data, (const void *)function_search_test_global, 8);
}

static void what_is_not_there_has_a_nearest_name(void **state)
{
	own(function_search_freep) struct function_search *s = NULL;
	struct function_search_hit hit;

	(void)state;
	assert_int_equal(function_search_open(SELF, &s, NULL), 0);
	assert_int_equal(function_search_find(s, "function_search_test", &hit, 1), 0);
	assert_int_equal(function_search_find(s, "", &hit, 1), 0);
	assert_string_equal(function_search_nearest(s, "function_search_test_globl"),
			    "function_search_test_global");
	assert_null(function_search_nearest(s, "fxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
	assert_true(function_search_open("/dev/null", &s, NULL) < 0);
	assert_true(function_search_open("/nowhere", &s, NULL) < 0);
}

static void all_are_listed_by_name(void **state)
{
	own(function_search_freep) struct function_search *s = NULL;

	(void)state;
	assert_int_equal(function_search_open(SELF, &s, NULL), 0);
	assert_true(function_search_count(s) > 2);
	for (size_t i = 1; i < function_search_count(s); i++)
		assert_true(strcmp(function_search_at(s, i - 1).name,
				   function_search_at(s, i).name) <= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_found_where_the_file_has_its_code),
		cmocka_unit_test(its_code_can_be_read),
		cmocka_unit_test(what_is_not_there_has_a_nearest_name),
		cmocka_unit_test(all_are_listed_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
