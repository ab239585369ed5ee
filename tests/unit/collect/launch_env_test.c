/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/launch_env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static char *put_before(const char *value, const char *with)
{
	if (value && !strcmp(value, "stays"))
		return NULL;
	return xasprintf("%s%s%s", with, value ? ":" : "", value ? value : "");
}

static char *put_none(const char *value, const char *with)
{
	(void)value;
	(void)with;
	return NULL;
}

static void check(struct launch_env *env, const char *const *want)
{
	char *const *have = launch_env_array(env);

	for (; *want; want++, have++) {
		assert_non_null(*have);
		assert_string_equal(*have, *want);
	}
	assert_null(*have);
}

static void of_several_variables_of_a_name_each_is_changed(void **state)
{
	static const char *const given[] = { "A=1", "AB=2", "A=stays", "B=", "A=", NULL };
	static const char *const want[] = { "A=x:1", "AB=2", "A=stays", "B=",
					    "A=x:",  "C=x",  NULL };
	char **saved = environ;
	struct launch_env env;

	(void)state;
	environ = (char **)(uintptr_t)given;
	launch_env_init(&env);
	environ = saved;
	check(&env, given);
	launch_env_change(&env, "A", put_before, "x");
	launch_env_change(&env, "C", put_before, "x");
	launch_env_change(&env, "D", put_none, "x");
	check(&env, want);
	launch_env_fini(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_several_variables_of_a_name_each_is_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
