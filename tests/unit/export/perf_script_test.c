/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "table_profile.h"

static const struct export_options all;
static const struct export_options faults = { .column = 1, .has_column = true };

static void an_observation_has_a_header_its_frames_and_a_blank_line(unused void **state)
{
	static const char first[] =
		"worker     100/101     [001]     5.000000:    1000000 cpu-time: \n"
		"\t            1000 main+0x0 (/opt/example)\n"
		"\n";
	own(freep) char *text =
		table_profile_export(&table_profile_example, "perf-script", &all, NULL);

	assert_int_equal(strncmp(text, first, sizeof(first) - 1), 0);
}

static void inlined_and_nameless_frames_look_as_perf_prints_them(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "perf-script", &all, NULL);

	assert_non_null(strstr(text, "\t            2001 step (inlined)\n"));
	assert_non_null(strstr(text, "\t            7001 [unknown] ([anon])\n"));
}

static void periods_sum_to_the_total_and_lines_to_the_count(unused void **state)
{
	own(freep) char *text =
		table_profile_export(&table_profile_example, "perf-script", &all, NULL);
	uint64_t sum = 0, n = 0;

	/* The number before the event's name. */
	for (char *s = text; (s = strstr(s, " cpu-time: \n")); s++) {
		char *digits = s;

		while (digits[-1] != ' ')
			digits--;
		sum += strtoull(digits, NULL, 10);
		n++;
	}
	assert_int_equal(sum, table_profile_example.columns[0].total_weight);
	assert_int_equal(n, table_profile_example.columns[0].total_count);
}

static void only_the_event_asked_for_is_written(unused void **state)
{
	own(freep) char *text = table_profile_export(&table_profile_example,
						     "perf-script", &faults, NULL);

	assert_null(strstr(text, "cpu-time"));
	assert_non_null(strstr(text, "         1 faults: \n"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_observation_has_a_header_its_frames_and_a_blank_line),
		cmocka_unit_test(inlined_and_nameless_frames_look_as_perf_prints_them),
		cmocka_unit_test(periods_sum_to_the_total_and_lines_to_the_count),
		cmocka_unit_test(only_the_event_asked_for_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
