/* SPDX-License-Identifier: Apache-2.0
 * Whole files are compared with gcov's in tests/e2e/bbcounts.py. */
#include "table_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/coverage.h"

static void samples_do_not_tell_what_was_executed(unused void **state)
{
	static const struct export_options all = { 0 };
	own(profile_freep) struct profile *p = table_profile_load(&table_profile_example);
	struct err e = { 0 };

	assert_int_equal(exporter_check(exporter_find("lcov"), p, &all, &e),
			 ERR_UNSUPPORTED);
	assert_non_null(strstr(e.text, "bbcounts"));
	assert_int_equal(exporter_check(exporter_find("folded"), p, &all, &e), 0);
}

/* As many times as its most frequent instruction, each inlined copy for itself. */
static void lines_are_summed_over_the_places_where_they_are(unused void **state)
{
	static const struct profile_column columns[] = {
		{ .name = "instructions", .unit = "count", .period = 1 }
	};
	static const struct profile_function functions[] = {
		{ .name = "outer", .label = "outer", .image = "a", .is_resolved = true },
		{ .name = "inner", .label = "inner", .image = "a", .is_resolved = true },
		{ .name = "other", .label = "other", .image = "a", .is_resolved = true },
	};
	/* Frame i is at line 10 + i. */
	static const struct table_stack stacks[] = {
		{ .n = 1, .functions = { 0 }, .weights = { 5 }, .counts = { 5 } },
		{ .n = 2,
		  .functions = { 0, 1 },
		  .is_inlined = { false, true },
		  .weights = { 7 },
		  .counts = { 7 } },
		{ .n = 2,
		  .functions = { 2, 1 },
		  .is_inlined = { false, true },
		  .weights = { 2 },
		  .counts = { 2 } },
	};
	const struct table_profile t = { columns, 1, functions, 3, stacks, 3 };
	own(profile_freep) struct profile *p = table_profile_load(&t);
	own(coverage_fini) struct coverage c = { 0 };

	coverage_make(&c, p, 0);
	assert_int_equal(c.lines.n, 2);
	assert_string_equal(c.files.at[c.lines.at[0].file], "/src/example.c");
	assert_int_equal(c.lines.at[0].line, 10);
	assert_int_equal(c.lines.at[0].times, 5);
	assert_int_equal(c.lines.at[1].line, 11);
	assert_int_equal(c.lines.at[1].times, 9);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_do_not_tell_what_was_executed),
		cmocka_unit_test(lines_are_summed_over_the_places_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
