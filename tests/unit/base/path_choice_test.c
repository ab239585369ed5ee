/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void names_are_of_any_directory_and_paths_of_one(void **state)
{
	static const struct {
		const char *list, *path;
		bool want;
	} t[] = {
		{ "gcc", "/usr/bin/gcc", true },
		{ "gcc", "gcc", true },
		{ "gcc", "/usr/bin/gcc-12", false },
		{ "gcc*", "/usr/bin/gcc-12", true },
		{ "ld,cc1", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1", true },
		{ "ld,cc1", "/usr/bin/ld.bfd", false },
		{ "/usr/bin/gcc", "/usr/bin/gcc", true },
		{ "/usr/bin/gcc", "/opt/usr/bin/gcc", false },
		{ "/usr/lib/gcc/*", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1", true },
		{ "*/12/*", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1", true },
		{ "[a-c]at", "/bin/cat", true },
		{ "gcc", NULL, false },
		{ "gcc", "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(path_choice_freep) struct path_choice *c = path_choice_new();

		assert_int_equal(path_choice_add(c, t[i].list, NULL), 0);
		if (path_choice_has(c, t[i].path) != t[i].want)
			fail_msg("%s in %s", t[i].path, t[i].list);
	}
}

static void lists_are_one_behind_the_other(void **state)
{
	own(path_choice_freep) struct path_choice *c = path_choice_new();
	struct err e = { 0 };

	(void)state;
	assert_string_equal(path_choice_text(c), "");
	assert_int_equal(path_choice_add(c, "a,b*", &e), 0);
	assert_int_equal(path_choice_add(c, "/c", &e), 0);
	assert_string_equal(path_choice_text(c), "a,b*,/c");
	assert_int_equal(path_choice_add(c, "", &e), ERR_USAGE);
	assert_int_equal(path_choice_add(c, "d,", &e), ERR_USAGE);
	assert_int_equal(path_choice_add(c, ",d", &e), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_of_any_directory_and_paths_of_one),
		cmocka_unit_test(lists_are_one_behind_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
