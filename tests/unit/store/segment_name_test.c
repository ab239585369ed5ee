/* SPDX-License-Identifier: Apache-2.0 */
#include "store/segment_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void names_are_read_as_they_are_written(void **state)
{
	static const char *const names[] = {
		"20261121T101500-20261121T102500.17.dwell",
		"20261121T101500-20261121T111500.17-22.dwell",
		"19700101T000000-19700101T000000.1.dwell",
	};
	char text[SEGMENT_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct segment_name n;

		assert_true(segment_name_parse(names[i], &n));
		assert_string_equal(segment_name_text(text, &n), names[i]);
	}
}

static void foreign_names_are_nobodys(void **state)
{
	static const char *const names[] = {
		"",
		"a.dwell",
		"MANIFEST",
		"20261121T101500-20261121T102500.dwell",
		"20261121T101500-20261121T102500.0.dwell",
		"20261121T101500-20261121T102500.017.dwell",
		"20261121T101500-20261121T102500.17-17.dwell",
		"20261121T101500-20261121T102500.17-16.dwell",
		"20261121T101500-20261121T102500.4294967295.dwell",
		"20261121T101500-20261121T102500.17.dwell~",
		"20261121T102500-20261121T101500.17.dwell",
		"20261131T101500-20261231T102500.17.dwell",
		".new-20261121T101500-20261121T102500.17.dwell",
	};
	struct segment_name n;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (segment_name_parse(names[i], &n))
			fail_msg("'%s' was taken", names[i]);
}

static void a_merged_segment_covers_what_it_was_made_of(void **state)
{
	const struct segment_name merged = { .first = 3, .last = 6 };

	(void)state;
	assert_true(segment_name_covers(&merged, &(struct segment_name){ 0, 0, 3, 3 }));
	assert_true(segment_name_covers(&merged, &(struct segment_name){ 0, 0, 4, 6 }));
	assert_false(segment_name_covers(&merged, &(struct segment_name){ 0, 0, 6, 7 }));
	assert_false(segment_name_covers(&merged, &merged));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_as_they_are_written),
		cmocka_unit_test(foreign_names_are_nobodys),
		cmocka_unit_test(a_merged_segment_covers_what_it_was_made_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
