/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_period_is_what_comes_in_the_time_of_a_sample(void **state)
{
	static const struct {
		uint64_t period, least, hz;
		double per_second;
		uint64_t want;
	} t[] = {
		{ 101, 1, 50, 1e6, 20000 }, /* at once */
		{ 101, 1, 50, 0, 101 },	    /* nothing is known */
		{ 101, 1, 50, 5050, 101 },  /* as asked for */
		{ 100, 1, 50, 4100, 100 },  /* near enough */
		{ 100, 1, 50, 6100, 100 },  /* near enough */
		{ 100, 1, 50, 3500, 70 },
		{ 20000, 1, 50, 10, 10000 }, /* it may come back */
		{ 2, 1, 50, 50, 1 },
		{ 1, 1, 50, 10, 1 },
		{ 12000, 10000, 997, 3,
		  10000 }, /* no register is to be as fast as that */
		{ 1000003, 10000, 1, 3e12, UINT64_C(3000000000000) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(system_rate_period(t[i].period, t[i].least, t[i].hz,
						    t[i].per_second),
				 t[i].want);
}

static void what_comes_all_the_time_is_soon_sampled_at_its_rate(void **state)
{
	uint64_t period = 1000000;

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		period = system_rate_period(period, 1, 997, 99700);
	assert_in_range(period, 80, 125);
}

static void a_burst_is_not_waited_out(void **state)
{
	static const struct {
		uint64_t hz, n, ns;
		bool is_exceeded;
	} t[] = {
		{ 1000, 399, 100000000, false }, { 1000, 401, 100000000, true },
		{ 1, 64, 100000000, false }, /* few do no harm */
		{ 1, 65, 100000000, true },	 { 1, 65, 60000000000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(system_rate_is_exceeded(t[i].hz, t[i].n, t[i].ns),
				 t[i].is_exceeded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_period_is_what_comes_in_the_time_of_a_sample),
		cmocka_unit_test(what_comes_all_the_time_is_soon_sampled_at_its_rate),
		cmocka_unit_test(a_burst_is_not_waited_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
