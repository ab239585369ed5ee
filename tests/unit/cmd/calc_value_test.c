/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calc_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/text.h"

static void one_number_is_as_before(void **state)
{
	char s[TEXT_MAX];

	(void)state;
	assert_string_equal(calc_value_cycles(s, 12.34), "12.3");
	assert_string_equal(calc_value_cycles(s, -1), "");
	assert_string_equal(calc_value_cycles_range(s, 0.52, 0.52), "0.5");
	assert_string_equal(calc_value_times_range(s, 1234567, 1234567), "1,234,567");
	assert_string_equal(calc_value_times_range(s, -1, -1), "");
	assert_string_equal(calc_value_times_range(s, 1.96e6, 2.04e6), "~2 M");
	assert_string_equal(calc_value_cycles_range(s, 11.9, 12.1), "~12");
}

static void no_bound_is_nothing(void **state)
{
	char s[TEXT_MAX];

	(void)state;
	assert_string_equal(calc_value_bound(s, 20), "20.0");
	assert_string_equal(calc_value_bound(s, 0.06), "0.1");
	assert_string_equal(calc_value_bound(s, 0.043), "0.04");
	assert_string_equal(calc_value_bound(s, 0.001), "0.01");
}

static void ranges_have_two_digits_and_one_unit(void **state)
{
	static const struct {
		double low, high;
		const char *times, *cycles;
	} t[] = {
		{ 0.2, 0.7, "0–1", "0.2–0.7" },
		{ 0.01, 0.3, "0–1", "≤ 0.3" },
		{ 2.5, 17.2, "2–18", "2.5–17" },
		{ 999, 9994, "1–10 K", "1,000–10,000" },
		{ 12345, 99999, "12–100 K", "12,000–100,000" },
		{ 12345, 640000, "12–640 K", "12–640 K" },
		{ 0.62, 5.2e6, "0–5.2 M", "≤ 5,200,000" },
		{ 95e6, 443e6, "95–440 M", "95–440 M" },
		{ 95e6, 1.23e9, "0.1–1.2 G", NULL },
		{ 5e8, 996e6, "0.5–1 G", NULL },
		{ 1e12, 1e15, "1–1,000 T", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char s[TEXT_MAX];

		assert_string_equal(calc_value_times_range(s, t[i].low, t[i].high),
				    t[i].times);
		if (t[i].cycles)
			assert_string_equal(
				calc_value_cycles_range(s, t[i].low, t[i].high),
				t[i].cycles);
	}
}

/* What nobody saw may have been executed never. */
static void cycles_of_what_may_have_been_never_are_no_less_than_nothing(void **state)
{
	static const struct {
		double cycles, low, high;
		const char *each;
	} t[] = {
		{ 100, 10, 20, "5–10" }, { 0, 0, 20, "0.0" },	 { 0, 5, 20, "0.0" },
		{ 100, 0, 20, "≥ 5" },	 { 100, 20, 20, "5.0" }, { 0, 0, 0, "" },
		{ 100, 0, 0, "" },	 { 100, -1, -1, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char s[TEXT_MAX];

		assert_string_equal(calc_value_each(s, t[i].cycles, t[i].low, t[i].high),
				    t[i].each);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_number_is_as_before),
		cmocka_unit_test(no_bound_is_nothing),
		cmocka_unit_test(ranges_have_two_digits_and_one_unit),
		cmocka_unit_test(
			cycles_of_what_may_have_been_never_are_no_less_than_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
