/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000ULL

static void windows_come_as_often_as_a_part_of_the_time_lets_them(void **state)
{
	struct anchor_budget b = { .part = 0.1, .random = 7 };
	unsigned n = 0;

	(void)state;
	for (; b.cpu_ns < 100000 * MS; b.cpu_ns += MS)
		if (b.cpu_ns >= b.due_ns) {
			b.spent_ns += 10 * MS;
			anchor_budget_plan(&b, 10 * MS, 0.5);
			n++;
		}
	assert_in_range(n, 450, 550); /* half of one in 100 ms */
}

static void what_was_spent_is_within_it_before_another(void **state)
{
	struct anchor_budget b = { .part = 0.1, .random = 7, .spent_ns = 500 * MS };

	(void)state;
	anchor_budget_plan(&b, 10 * MS, 1);
	assert_int_equal(b.due_ns, 5100 * MS);
}

static void chance_is_from_half_to_one_and_a_half(void **state)
{
	struct anchor_budget b = { .random = 1 };
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t ns = anchor_budget_chance(&b, 1000);

		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	assert_in_range(least, 500, 510);
	assert_in_range(most, 1490, 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_come_as_often_as_a_part_of_the_time_lets_them),
		cmocka_unit_test(what_was_spent_is_within_it_before_another),
		cmocka_unit_test(chance_is_from_half_to_one_and_a_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
