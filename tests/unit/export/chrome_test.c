/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "table_profile.h"

static const struct export_options all = { .title = "example" };
static const struct export_options faults = { .column = 1, .has_column = true };

static void a_thread_has_a_name_and_slices(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "chrome", &all, NULL);

	assert_non_null(strstr(text, "{\"ph\":\"M\",\"pid\":100,\"tid\":101,\"name\":"
				     "\"thread_name\",\"args\":{\"name\":\"worker\"}}"));
	assert_non_null(strstr(text, "{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"name\":"
				     "\"main\",\"cat\":"));
	assert_non_null(strstr(text, "\"otherData\":{\"exporter\":\"dwell\",\"title\":"
				     "\"example\",\"left_out\":0}}"));
}

static void what_is_no_time_is_a_counter(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "chrome", &faults, NULL);

	assert_null(strstr(text, "\"ph\":\"X\""));
	assert_non_null(strstr(text, "{\"ph\":\"C\",\"pid\":100,\"tid\":0,\"name\":"));
}

static void hostile_names_are_escaped(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "chrome", &all, NULL);

	assert_non_null(strstr(text, "onerror=alert(1)>;a\\nb\\\"c\\u001b[2J\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_has_a_name_and_slices),
		cmocka_unit_test(what_is_no_time_is_a_counter),
		cmocka_unit_test(hostile_names_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
