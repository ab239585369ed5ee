/* SPDX-License-Identifier: Apache-2.0 */
#include "base/moment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define NOW INT64_C(1763721000) /* 2025-11-21 10:30:00 UTC, a Friday */

static void moments_are_read_as_people_write_them(void **state)
{
	static const struct {
		const char *text;
		int64_t want;
	} t[] = {
		{ "now", NOW },
		{ "-2h", NOW - 7200 },
		{ "-1h30m", NOW - 5400 },
		{ "-90s", NOW - 90 },
		{ "90s ago", NOW - 90 },
		{ "3 days ago", NOW - 3 * 86400 },
		{ "1 week ago", NOW - 7 * 86400 },
		{ "+5min", NOW + 300 },
		{ "today", NOW - 37800 },
		{ "yesterday", NOW - 37800 - 86400 },
		{ "yesterday 10:30", NOW - 86400 },
		{ "Today 9:05", NOW - 37800 + 9 * 3600 + 300 },
		{ "10:30", NOW },
		{ "10:30:15", NOW + 15 },
		{ "2025-11-21", NOW - 37800 },
		{ "2025-11-21 10:30", NOW },
		{ "2025-11-21T10:30:15", NOW + 15 },
		{ "2025-11-21T10:30:15Z", NOW + 15 },
		{ "2025-11-21 10:30 UTC", NOW },
		{ "20251121T103015", NOW + 15 },
		{ "@1763721000", NOW },
		{ "2024-02-29", INT64_C(1709164800) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		int64_t at = -1;
		struct err e = { 0 };

		if (moment_parse(t[i].text, NOW, &at, &e) < 0 || at != t[i].want)
			fail_msg("%s: %ld, not %ld: %s", t[i].text, (long)at,
				 (long)t[i].want, e.text);
	}
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const t[] = {
		"",
		" ",
		"soon",
		"2h",
		"-2",
		"-2x",
		"25:00",
		"10:60",
		"10",
		"2025-13-01",
		"2025-02-29",
		"yesterdayx",
		"10:30 pm",
		"@",
		"@12x",
		"-",
		"--2h",
		"2025-11-21 10",
		"20251121T10301",
		"now now",
		"1h ago ago",
		"-9999999999h",
	};
	int64_t at;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct err e = { 0 };

		if (moment_parse(t[i], NOW, &at, &e) != ERR_USAGE || !e.text[0])
			fail_msg("'%s' was taken", t[i]);
	}
}

static void a_moment_is_written_in_local_time_and_compactly_in_utc(void **state)
{
	char text[MOMENT_MAX];

	(void)state;
	assert_string_equal(moment_text(text, NOW), "2025-11-21 10:30:00");
	assert_string_equal(moment_compact(text, NOW), "20251121T103000");
	setenv("TZ", "EST5", 1);
	tzset();
	assert_string_equal(moment_text(text, NOW), "2025-11-21 05:30:00");
	assert_string_equal(moment_compact(text, NOW), "20251121T103000");

	int64_t at = 0;

	assert_int_equal(moment_parse("05:30", NOW, &at, NULL), 0);
	assert_int_equal(at, NOW);
	setenv("TZ", "UTC", 1);
	tzset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_are_read_as_people_write_them),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(a_moment_is_written_in_local_time_and_compactly_in_utc),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
