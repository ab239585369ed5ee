/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "table_profile.h"

static const struct export_options all = { .title = "example" };
static const struct export_options faults = { .column = 1, .has_column = true };

static void a_thread_is_a_profile_per_event(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "speedscope", &all, NULL);

	assert_non_null(strstr(
		text, "{\"type\":\"sampled\",\"name\":\"cpu-time, worker 100/101\","
		      "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":37000001,"
		      "\"samples\":[[0],[0,1],[0,1,2],[0,1,1],[0,3,4],[0,5],[0,6],[7]],"
		      "\"weights\":[2000000,3000000,20000001,4000000,1000000,5000000,"
		      "1000000,1000000]}"));
	assert_non_null(strstr(text, "\"unit\":\"none\",\"startValue\":0,\"endValue\":7,"
				     "\"samples\":[[0,3,4]],\"weights\":[7]}"));
}

static void hostile_names_are_escaped(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "speedscope", &all, NULL);

	assert_non_null(strstr(text, "onerror=alert(1)>;a\\nb\\\"c\\u001b[2J\""));
}

static void only_the_event_asked_for_is_written(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "speedscope", &faults, NULL);

	assert_null(strstr(text, "cpu-time"));
	assert_null(strstr(text, "\"step\""));
}

static void
what_is_too_long_for_a_browser_becomes_its_calling_contexts(unused void **state)
{
	own(table_profile_wide_fini) struct table_profile wide =
		table_profile_wide(500001);
	size_t size;
	own(freep) char *text = table_profile_export(&wide, "speedscope", &all, &size);

	assert_non_null(
		strstr(text, "\"cpu-time, all threads, what is below 0.005 % merged\""));
	assert_non_null(strstr(text, "\"[small frames]\""));
	assert_non_null(strstr(text, "\"endValue\":125000750001,"));
	assert_true(size < 1000000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_a_profile_per_event),
		cmocka_unit_test(hostile_names_are_escaped),
		cmocka_unit_test(only_the_event_asked_for_is_written),
		cmocka_unit_test(
			what_is_too_long_for_a_browser_becomes_its_calling_contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
