/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/system_late.h"

static void cpus_are_added_and_the_most_frequent_places_come_first(void **state)
{
	struct stack_record_late late[2] = {
		{ .steps = { [1] = 90, [6] = 2 },
		  .late = 2,
		  .late_ns = 50000,
		  .late_user = 1,
		  .places = { { 0x10, 5 },
			      { 0x20, 1 },
			      { 0x30, 0 },
			      [63] = { 0x40, 7 } } },
		{ .steps = { [1] = 8 },
		  .late = 3,
		  .late_ns = 7,
		  .places = { [9] = { 0x10, 4 }, { 0x50, 2 }, { 0x60, 2 } } },
	};
	static const struct stack_record_late_place want[] = {
		{ 0x10, 9 }, { 0x40, 7 }, { 0x50, 2 }, { 0x60, 2 }
	};
	struct system_late got;

	(void)state;
	system_late_sum(late, 2, &got);
	assert_int_equal(got.n_late, 5);
	assert_int_equal(got.late_ns, 50007);
	assert_int_equal(got.n_user, 1);
	assert_int_equal(got.steps[1], 98);
	assert_memory_equal(got.places, want, sizeof(want));
}

static void few_places_leave_the_rest_empty(void **state)
{
	struct stack_record_late late = { .places = { { 0x10, 5 } } };
	struct system_late got;

	(void)state;
	system_late_sum(&late, 1, &got);
	assert_int_equal(got.places[0].count, 5);
	assert_int_equal(got.places[1].count, 0);
}

static void what_a_part_does_not_exceed_is_the_end_of_a_step(void **state)
{
	uint64_t steps[STACK_RECORD_LATE_STEPS] = { 0, 90, 0, 9, 1 };
	uint64_t none[STACK_RECORD_LATE_STEPS] = { 0 };

	(void)state;
	assert_int_equal(system_late_within_ns(steps, 500), 1024);
	assert_int_equal(system_late_within_ns(steps, 900), 1024);
	assert_int_equal(system_late_within_ns(steps, 990), 4096);
	assert_int_equal(system_late_within_ns(steps, 1000), 8192);
	assert_int_equal(system_late_within_ns(none, 500), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_are_added_and_the_most_frequent_places_come_first),
		cmocka_unit_test(few_places_leave_the_rest_empty),
		cmocka_unit_test(what_a_part_does_not_exceed_is_the_end_of_a_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
