/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "inject/region_rate.h"

static void a_rate_scales_both_ways(void **state)
{
	static const struct {
		uint64_t ns, units, of, want_ns;
	} cases[] = {
		{ 10, 30, 7, 2 },
		{ 1000, 2500, 5000, 2000 },
		{ 0, 0, 77, 77 },
		{ 5, 0, 77, 77 },
		{ 1, UINT64_C(1) << 40, 77, 77 }, /* no clock is like that */
		{ UINT64_C(1) << 40, UINT64_C(3) << 40, UINT64_C(3) << 50,
		  UINT64_C(1) << 50 },
		{ 1, 1, UINT64_MAX, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct region_rate r = region_rate_of(cases[i].ns, cases[i].units);

		assert_int_equal(region_rate_ns(r, cases[i].of), cases[i].want_ns);
	}
	assert_int_equal(region_rate_units(region_rate_of(1000, 2500), 2000), 5000);
	assert_int_equal(region_rate_units(region_rate_of(0, 0), 2000), 2000);
}

/* After a day of a clock of 2.9 GHz. */
static void long_times_are_exact_to_a_part_in_a_billion(void **state)
{
	const uint64_t day = UINT64_C(86400) * 1000000000;
	struct region_rate r = region_rate_of(day, day / 10 * 29);
	uint64_t ns = region_rate_ns(r, day / 10 * 29);

	(void)state;
	assert_true(ns < day + day / 1000000000 && ns > day - day / 1000000000);
	ns = region_rate_ns(r, region_rate_units(r, day));
	assert_true(ns <= day && ns + 2 >= day);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rate_scales_both_ways),
		cmocka_unit_test(long_times_are_exact_to_a_part_in_a_billion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
