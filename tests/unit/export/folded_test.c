/* SPDX-License-Identifier: Apache-2.0 */
#include "table_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct export_options all;
static const struct export_options faults = { .column = 1, .has_column = true };

static void stacks_are_lines_with_their_weight(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "folded", &all, NULL);

	assert_string_equal(
		text,
		"[no stack] 1000000\n"
		"main 2000000\n"
		"main;work(std::vector<int, std::allocator<int> > const&) 3000000\n"
		"main;work(std::vector<int, std::allocator<int> > const&);step "
		"20000001\n"
		"main;work(std::vector<int, std::allocator<int> > const&);"
		"work(std::vector<int, std::allocator<int> > const&) 4000000\n"
		"main;read;vfs_read 1000000\n"
		"main;</script><img src=x onerror=alert(1)>:a\\x0ab\"c\\x1b[2J 5000000\n"
		"main;[unresolved] 1000000\n");
}

static void stacks_without_the_event_are_left_out(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "folded", &faults, NULL);

	assert_string_equal(text, "main;read;vfs_read 7\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_lines_with_their_weight),
		cmocka_unit_test(stacks_without_the_event_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
