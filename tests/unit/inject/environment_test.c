/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "inject/environment.h"

static void a_variable_is_found_by_its_whole_name(void **state)
{
	char a[] = "DWELL=1", b[] = "DWELL_SAMPLER=/x", c[] = "EMPTY=";
	char *env[] = { a, b, c, NULL };

	(void)state;
	assert_string_equal(environment_get(env, "DWELL_SAMPLER"), "/x");
	assert_string_equal(environment_get(env, "DWELL"), "1");
	assert_string_equal(environment_get(env, "EMPTY"), "");
	assert_null(environment_get(env, "DWELL_"));
	assert_null(environment_get(NULL, "DWELL"));
}

static void only_our_entry_of_ld_preload_goes(void **state)
{
	static const struct {
		const char *before, *after; /* after NULL: the variable goes */
	} t[] = {
		{ "LD_PRELOAD=/d/$PLATFORM/l.so", NULL },
		{ "LD_PRELOAD=/d/$PLATFORM/l.so:/usr/lib/other.so",
		  "LD_PRELOAD=/usr/lib/other.so" },
		{ "LD_PRELOAD=/a.so /d/x/l.so", "LD_PRELOAD=/a.so" },
		{ "LD_PRELOAD=/a.so:/d/x/l.so:/b.so", "LD_PRELOAD=/a.so:/b.so" },
		{ "LD_PRELOAD=/dd/l.so", "LD_PRELOAD=/dd/l.so" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char ours[] = "DWELL_SAMPLER=/d", other[] = "HOME=/", preload[100];
		char *env[] = { ours, preload, other, NULL };

		strcpy(preload, t[i].before);
		environment_forget(env, "DWELL_SAMPLER", "/d");
		if (t[i].after)
			assert_string_equal(env[0], t[i].after);
		assert_string_equal(env[t[i].after ? 1 : 0], "HOME=/");
		assert_null(env[t[i].after ? 2 : 1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variable_is_found_by_its_whole_name),
		cmocka_unit_test(only_our_entry_of_ld_preload_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
