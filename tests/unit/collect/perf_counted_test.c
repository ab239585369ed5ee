/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_counted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CPU0 = 7, CPU1, OTHER = 70 };

static void each_event_of_each_thread_counts_for_itself(void **state)
{
	struct perf_counted c = { 0 };

	(void)state;
	assert_int_equal(perf_counted_since(&c, CPU0, 1, 100), 100);
	assert_int_equal(perf_counted_since(&c, CPU0, 2, 30), 30);
	assert_int_equal(perf_counted_since(&c, CPU1, 1, 5), 5);
	assert_int_equal(perf_counted_since(&c, CPU0, 1, 150), 50);
	assert_int_equal(perf_counted_since(&c, CPU0, 1, 150), 0);
	assert_int_equal(perf_counted_since(&c, CPU1, 1, 6), 1);
	assert_int_equal(perf_counted_since(&c, CPU0, 2, 130), 100);
	perf_counted_fini(&c);
}

static void who_has_the_number_of_another_begins_anew(void **state)
{
	struct perf_counted c = { 0 };
	struct map ids = { 0 };

	(void)state;
	*map_slot(&ids, CPU0, NULL) = 0;
	*map_slot(&ids, CPU1, NULL) = 0;
	perf_counted_exit(&c, &ids, 1); /* who was not heard of */
	perf_counted_since(&c, CPU0, 1, 100);
	perf_counted_since(&c, CPU1, 1, 40);
	perf_counted_since(&c, OTHER, 1, 9);
	perf_counted_exit(&c, &ids, 1);
	assert_int_equal(perf_counted_since(&c, CPU0, 1, 101), 101);
	assert_int_equal(perf_counted_since(&c, CPU1, 1, 50), 50);
	assert_int_equal(perf_counted_since(&c, OTHER, 1, 10), 1);
	/* Its end was not told. */
	assert_int_equal(perf_counted_since(&c, CPU0, 1, 20), 20);
	map_fini(&ids);
	perf_counted_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_of_each_thread_counts_for_itself),
		cmocka_unit_test(who_has_the_number_of_another_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
