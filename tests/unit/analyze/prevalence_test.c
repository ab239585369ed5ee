/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/prevalence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recording_builder.h"
#include "scratch_file.h"

static const char text[] = "process 1 make\n"
			   "process 2 cc1\n"
			   "process 3 as\n"
			   "use pid=1 tid=1\n"
			   "libc.so.6!memcpy 3\n"
			   "libc.so.6!exit 1\n"
			   "use pid=2 tid=2\n"
			   "libc.so.6!main;libc.so.6!memcpy 5\n"
			   "use pid=3 tid=3\n"
			   "libc.so.6!memcpy 4\n";

static struct prevalence of(const char *name, const char *filter)
{
	const char *paths[] = { scratch_file_path };
	struct profile_options o = { .filter = filter };
	own(profile_freep) struct profile *p = NULL;
	own(freep) struct prevalence *all = NULL;
	struct prevalence found = { 0 };
	static char command[16];
	struct err e = { 0 };

	recording_builder_write(scratch_file_path, text);
	if (profile_load(paths, 1, &o, &p, &e) < 0 || prevalence_find(p, 0, &all, &e) < 0)
		fail_msg("%s", e.text);
	for (uint32_t i = 0; i < profile_n_functions(p); i++)
		if (strcmp(profile_function(p, i)->name, name) == 0)
			found = all[i];
	/* It lives as long as the profile. */
	if (found.command)
		found.command = strcpy(command, found.command);
	return found;
}

static void a_function_is_of_who_spent_most_in_it(void **state)
{
	struct prevalence memcpy_ = of("memcpy", NULL);

	(void)state;
	assert_string_equal(memcpy_.command, "cc1");
	assert_int_equal(memcpy_.weight, 5000000);
	assert_int_equal(memcpy_.n_others, 2);
	assert_string_equal(of("exit", NULL).command, "make");
	assert_int_equal(of("exit", NULL).n_others, 0);
	assert_null(of("main", NULL).command);
}

static void only_what_the_filter_lets_pass_counts(void **state)
{
	struct prevalence memcpy_ = of("memcpy", "command != cc1");

	(void)state;
	assert_string_equal(memcpy_.command, "as");
	assert_int_equal(memcpy_.n_others, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_function_is_of_who_spent_most_in_it,
						scratch_file_make, scratch_file_remove),
		cmocka_unit_test_setup_teardown(only_what_the_filter_lets_pass_counts,
						scratch_file_make, scratch_file_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
