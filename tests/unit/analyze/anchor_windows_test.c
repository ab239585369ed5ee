/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_windows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A second before each, of 10 ms; 1000 of what has counters in a native second. */
static struct anchor_window usual(void)
{
	return (struct anchor_window){ .before_ns = 1e9,
				       .code = 2e7,
				       .met = 1000,
				       .near_hits = 2000,
				       .near_rate = 1000 / 1e7 };
}

/* All of one run. */
static bool weigh(struct anchor_window *w, size_t n, double behind_ns)
{
	for (size_t i = 0; i < n; i++) {
		w[i].own_before_ns = i ? w[i].before_ns / 2 : w[i].before_ns;
		w[i].own_behind_ns = i + 1 < n ? w[i + 1].before_ns / 2 : behind_ns;
	}
	return anchor_windows_weigh(w, n);
}

static void each_stands_for_the_time_around_it(void **state)
{
	struct anchor_window w[] = { usual(), usual(), usual() };

	(void)state;
	assert_true(weigh(w, 3, 2e9));
	assert_float_equal(w[0].stands_ns, 1.5e9, 1);
	assert_float_equal(w[1].stands_ns, 1e9, 1);
	assert_float_equal(w[2].stands_ns, 2.5e9, 1);
	assert_float_equal(w[0].weight, 150, 1e-6);
	assert_float_equal(w[2].weight, 250, 1e-6);
}

static void slow_windows_count_for_more(void **state)
{
	struct anchor_window w[] = { usual(), usual(), usual() };

	(void)state;
	w[1].met = 500;
	assert_true(weigh(w, 3, 5e8));
	assert_float_equal(w[1].weight, 2 * w[2].weight, 1e-6);
}

static void unknown_ones_are_as_fast_as_others(void **state)
{
	struct anchor_window w[] = { usual(), usual(), usual(), usual() };

	(void)state;
	w[0].met = 3;
	w[0].code *= 2;
	w[3].near_hits = w[3].near_rate = 0;
	assert_true(weigh(w, 4, 5e8));
	assert_float_equal(w[0].weight, 75, 1e-6);
	assert_float_equal(w[3].weight, 100, 1e-6);
}

/* Of three quarters, which wait for memory, there is an eighth of the code of the others.
 */
static void windows_without_waiting_are_as_long_as_others(void **state)
{
	enum { N = 16 };
	struct anchor_window w[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		w[i] = usual();
		w[i].code *= i % 4 ? 1 : 8;
	}
	assert_true(weigh(w, N, 5e8));
	assert_float_equal(w[4].weight, 100, 1e-6);
	assert_float_equal(w[5].weight, 100, 1e-6);
}

static void no_window_is_out_of_all_proportion(void **state)
{
	struct anchor_window w[] = { usual(), usual(), usual() };

	(void)state;
	w[1].met = 50;
	assert_true(weigh(w, 3, 5e8));
	assert_float_equal(w[1].weight, 200, 1e-6);
	w[1].met = 20000;
	assert_true(weigh(w, 3, 5e8));
	assert_float_equal(w[1].weight, 50, 1e-6);
}

static void most_of_them_must_be_known(void **state)
{
	struct anchor_window w[] = { usual(), usual(), usual() };

	(void)state;
	w[0].near_rate = w[1].near_rate = 0;
	assert_false(weigh(w, 3, 1e9));
	assert_false(weigh(w, 0, 1e9));
}

/* One that met new code is no longer than what it executed. */
static void without_counters_the_time_that_they_took_tells(void **state)
{
	struct anchor_window w[] = { usual(), usual(), usual(), usual() };

	(void)state;
	for (int i = 0; i < 4; i++) {
		w[i].met = w[i].near_hits = w[i].near_rate = 0;
		w[i].own_before_ns = w[i].own_behind_ns = 5e8;
		w[i].counted_ns = 13e6;
	}
	w[3].code /= 10;
	assert_true(anchor_windows_suppose(w, 4));
	assert_float_equal(w[0].weight, 100, 1e-6);
	assert_float_equal(w[3].weight, 500, 1e-6);
	w[0].counted_ns = 0;
	assert_false(anchor_windows_suppose(w, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stands_for_the_time_around_it),
		cmocka_unit_test(slow_windows_count_for_more),
		cmocka_unit_test(unknown_ones_are_as_fast_as_others),
		cmocka_unit_test(windows_without_waiting_are_as_long_as_others),
		cmocka_unit_test(no_window_is_out_of_all_proportion),
		cmocka_unit_test(most_of_them_must_be_known),
		cmocka_unit_test(without_counters_the_time_that_they_took_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
