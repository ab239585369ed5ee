/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_period.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/map.h"

#define MEAN 192308
#define N    1000

static void periods_are_within_a_tenth_and_differ(void **state)
{
	struct system_period p = { 0 };
	uint64_t last = 0, same = 0, far = 0;

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t period = system_period_draw(&p, MEAN, N, hash_u64(i));

		assert_in_range(period, MEAN - MEAN / 10, MEAN + MEAN / 10);
		same += period == last;
		far += period < MEAN - MEAN / 20 || period > MEAN + MEAN / 20;
		last = period;
	}
	assert_true(same < 10);
	assert_in_range(far, 4500, 5500); /* as many as are near */
}

/* Whenever one looks, and however late the next is drawn. */
static void samples_stand_for_the_mean(void **state)
{
	struct system_period p = { 0 };
	uint64_t period = MEAN, most = 0;
	int64_t off = 0;

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t n = N + hash_u64(~i) % N;

		off += (int64_t)n * ((int64_t)period - MEAN);
		if ((uint64_t)llabs(off) > most)
			most = (uint64_t)llabs(off);
		period = system_period_draw(&p, MEAN, n, hash_u64(i));
	}
	assert_true(most <= 2 * N * (MEAN / 10));
}

static void what_has_no_room_to_be_drawn_is_the_mean(void **state)
{
	struct system_period p = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(system_period_draw(&p, 7, N, hash_u64(i)), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_are_within_a_tenth_and_differ),
		cmocka_unit_test(samples_stand_for_the_mean),
		cmocka_unit_test(what_has_no_room_to_be_drawn_is_the_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
