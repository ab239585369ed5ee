/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_preload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/launch_env.h"
#include "inject/environment.h"

#define NAME	  "DWELL_SAMPLER"
#define DIRECTORY "/d"
#define OURS	  DIRECTORY "/$PLATFORM/l.so"
#define ORDER	  "verify_asan_link_order=0:"
#define N	  6

static const struct timer_library library = { .name = "l.so" };

static void begin(struct launch_env *env, const char *const *given)
{
	char **saved = environ;

	environ = (char **)(uintptr_t)given;
	launch_env_init(env);
	environ = saved;
}

static void check(char *const *have, const char *const *want)
{
	for (; *want; want++, have++) {
		assert_non_null(*have);
		assert_string_equal(*have, *want);
	}
	assert_null(*have);
}

/* As the library does that has been loaded by it. */
static void check_taken_out(struct launch_env *env, const char *const *want)
{
	char *copy[2 * N + 1];
	size_t n = 0;

	for (char *const *at = launch_env_array(env); *at; at++)
		copy[n++] = *at;
	copy[n] = NULL;
	environment_forget(copy, NAME, DIRECTORY);
	check(copy, want);
}

static void what_is_put_in_is_taken_out_again(void **state)
{
	static const struct {
		const char *given[N], *want[N];
	} t[] = {
		{ { "A=1" },
		  { "A=1", "LD_PRELOAD=" OURS, NAME "=" DIRECTORY,
		    "ASAN_OPTIONS=" ORDER } },
		{ { "LD_PRELOAD=", "ASAN_OPTIONS=" },
		  { "LD_PRELOAD=" OURS ":", "ASAN_OPTIONS=:" ORDER,
		    NAME "=" DIRECTORY } },
		{ { "LD_PRELOAD=/a.so", "ASAN_OPTIONS=detect_leaks=0" },
		  { "LD_PRELOAD=" OURS ":/a.so", "ASAN_OPTIONS=detect_leaks=0:" ORDER,
		    NAME "=" DIRECTORY } },
		/* Some read the first of two, and some the last. */
		{ { "LD_PRELOAD=/a.so", "ASAN_OPTIONS=a=1", "LD_PRELOAD=/b.so",
		    "ASAN_OPTIONS=" },
		  { "LD_PRELOAD=" OURS ":/a.so", "ASAN_OPTIONS=a=1:" ORDER,
		    "LD_PRELOAD=" OURS ":/b.so", "ASAN_OPTIONS=:" ORDER,
		    NAME "=" DIRECTORY } },
		{ { "LD_PRELOAD=libasan.so.8:/a.so" },
		  { "LD_PRELOAD=" OURS ":libasan.so.8:/a.so", NAME "=" DIRECTORY,
		    "ASAN_OPTIONS=" ORDER } },
		{ { "LD_PRELOAD=/a.so /b.so", "ASAN_OPTIONS=a=1 b=2" },
		  { "LD_PRELOAD=" OURS ":/a.so /b.so", "ASAN_OPTIONS=a=1 b=2:" ORDER,
		    NAME "=" DIRECTORY } },
		/* What says so already is not ours. */
		{ { "ASAN_OPTIONS=verify_asan_link_order=1:a=1" },
		  { "ASAN_OPTIONS=verify_asan_link_order=1:a=1", "LD_PRELOAD=" OURS,
		    NAME "=" DIRECTORY } },
		{ { "ASAN_OPTIONS=verify_asan_link_order=0" },
		  { "ASAN_OPTIONS=verify_asan_link_order=0", "LD_PRELOAD=" OURS,
		    NAME "=" DIRECTORY } },
		/* Nor are libraries whose names begin so. */
		{ { "LD_PRELOAD=" OURS ".1:/dd/l.so", "ASAN_OPTIONS=" ORDER "a=1" },
		  { "LD_PRELOAD=" OURS ":" OURS ".1:/dd/l.so",
		    "ASAN_OPTIONS=" ORDER "a=1", NAME "=" DIRECTORY } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct timer_directory d = { .library = &library, .path = DIRECTORY };
		struct launch_env env;

		begin(&env, t[i].given);
		timer_preload_set(&env, &d, NAME);
		check(launch_env_array(&env), t[i].want);
		assert_true(d.is_preloaded);
		check_taken_out(&env, t[i].given);
		launch_env_fini(&env);
	}
}

/* Wherever it stands, and whatever separates it. */
static void what_is_there_already_is_not_put_in_twice(void **state)
{
	static const char *const given[][N] = {
		{ "LD_PRELOAD=" OURS, "ASAN_OPTIONS=" ORDER, NAME "=" DIRECTORY },
		{ "LD_PRELOAD=/a.so " OURS, "ASAN_OPTIONS=a=1:" ORDER,
		  NAME "=" DIRECTORY },
		{ "LD_PRELOAD=/a.so:" OURS " /b.so", "ASAN_OPTIONS=a=1:" ORDER,
		  NAME "=" DIRECTORY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		struct timer_directory d = { .library = &library, .path = DIRECTORY };
		struct launch_env env;

		begin(&env, given[i]);
		timer_preload_set(&env, &d, NAME);
		check(launch_env_array(&env), given[i]);
		launch_env_fini(&env);
	}
}

/* As where a program is sampled and traced at once. */
static void two_libraries_are_put_in_and_taken_out_by_themselves(void **state)
{
	static const char *const given[] = { "LD_PRELOAD=/a.so", NULL };
	static const struct timer_library other = { .name = "o.so" };
	struct timer_directory d = { .library = &library, .path = DIRECTORY };
	struct timer_directory e = { .library = &other, .path = "/e" };
	struct launch_env env;
	char *copy[N];
	size_t n = 0;

	(void)state;
	begin(&env, given);
	timer_preload_set(&env, &d, NAME);
	timer_preload_set(&env, &e, "DWELL_TRACER");
	assert_string_equal(launch_env_get(&env, "LD_PRELOAD"),
			    "/e/$PLATFORM/o.so:" OURS ":/a.so");
	assert_string_equal(launch_env_get(&env, "ASAN_OPTIONS"), ORDER);
	for (char *const *at = launch_env_array(&env); *at; at++)
		copy[n++] = *at;
	copy[n] = NULL;
	environment_forget(copy, NAME, DIRECTORY);
	environment_forget(copy, "DWELL_TRACER", "/e");
	check(copy, given);
	launch_env_fini(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_in_is_taken_out_again),
		cmocka_unit_test(what_is_there_already_is_not_put_in_twice),
		cmocka_unit_test(two_libraries_are_put_in_and_taken_out_by_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
