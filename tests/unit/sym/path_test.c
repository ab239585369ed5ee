/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void one_file_has_one_name(void **state)
{
	static const struct {
		const char *path, *want;
	} t[] = {
		{ "/a/b.c", "/a/b.c" },
		{ "/a/./b//c.c", "/a/b/c.c" },
		{ "/a/b/../c.c", "/a/c.c" },
		{ "/../../a.c", "/a.c" },
		{ "../x/../a.c", "../a.c" },
		{ "x/../../a.c", "../a.c" },
		{ "./a.c", "a.c" },
		{ "/", "/" },
		{ "", "" },
		{ "a..b/..c", "a..b/..c" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		strcpy(text, t[i].path);
		text[path_normalize(text, strlen(text))] = 0;
		assert_string_equal(text, t[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_file_has_one_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
