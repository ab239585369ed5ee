/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_choice.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SECOND_NS 1000000000u

static void rates_are_bounded(void **state)
{
	static const struct anchor_choice_block blocks[] = {
		{ 0x1000, 50000000, 10, 30 },
		{ 0x1100, 3000, 2, 8 },
		{ 0x1200, 1000000, 2, 8 },
		{ 0x1300, 10, 2, 8 },
	};
	uint64_t chosen[ANCHOR_CHOICE_MAX];

	(void)state;
	assert_int_equal(anchor_choice_make(blocks, 4, SECOND_NS, chosen), 1);
	assert_int_equal(chosen[0], 0x1100);
	/* All of it in a hundredth of the time. */
	assert_int_equal(anchor_choice_make(blocks, 4, SECOND_NS / 100, chosen), 1);
	assert_int_equal(chosen[0], 0x1300);
}

static void what_is_near_the_most_executed_code_comes_first(void **state)
{
	static const struct anchor_choice_block blocks[] = {
		{ 0x900000, 3000, 2, 8 },
		{ 0x400000, 3000, 2, 8 },
		{ 0x401000, 40000000, 10, 30 },
		{ 0x901000, 4000000, 10, 30 },
	};
	uint64_t chosen[ANCHOR_CHOICE_MAX];

	(void)state;
	assert_int_equal(anchor_choice_make(blocks, 4, SECOND_NS, chosen), 2);
	assert_int_equal(chosen[0], 0x400000);
	assert_int_equal(chosen[1], 0x900000);
}

static void code_that_blocks_share_is_never_chosen(void **state)
{
	static const struct anchor_choice_block blocks[] = {
		{ 0x1000, 3000, 4, 16 },
		{ 0x1008, 3000, 2, 8 },
		{ 0x1010, 3000, 2, 8 },
	};
	uint64_t chosen[ANCHOR_CHOICE_MAX];

	(void)state;
	assert_int_equal(anchor_choice_make(blocks, 3, SECOND_NS, chosen), 1);
	assert_int_equal(chosen[0], 0x1010);
}

static void counters_are_where_they_cost_little_and_tell_much(void **state)
{
	static const struct anchor_choice_block blocks[] = {
		{ 0x401000, 40000000, 10, 30 },
		{ 0x901000, 40000000, 10, 30 },
	};
	static const struct anchor_site sites[] = {
		{ .addr = 0x400f00, .times = 100000 },
		{ .addr = 0x401100, .times = 40000000 },
		{ .addr = 0x901100, .times = 90000 },
		{ .addr = 0x901200, .times = 10 },
		{ .addr = 0x901300, .times = 500000 },
	};
	bool there[5] = { false };
	struct anchor_choice_sites s = { sites, there, there, 5, 250000, false };
	size_t chosen[ANCHOR_CHOICE_SITES];

	(void)state;
	assert_int_equal(anchor_choice_sites(blocks, 2, SECOND_NS, &s, chosen), 2);
	assert_true(chosen[0] + chosen[1] == 2 && chosen[0] * chosen[1] == 0);
	/* Those that are there do for what they are near. */
	there[0] = true;
	assert_int_equal(anchor_choice_sites(blocks, 2, SECOND_NS, &s, chosen), 1);
	assert_int_equal(chosen[0], 2);
	there[2] = true;
	assert_int_equal(anchor_choice_sites(blocks, 2, SECOND_NS, &s, chosen), 0);
}

static void for_moments_they_may_come_more_often(void **state)
{
	static const struct anchor_choice_block block = { 0x401000, 40000000, 10, 30 };
	static const struct anchor_site sites[] = {
		{ .addr = 0x401100, .times = 20000000 },
		{ .addr = 0x401200, .times = 4000000 },
		{ .addr = 0x401300, .times = 10000 },
	};
	bool there[3] = { false };
	struct anchor_choice_sites s = { sites, there, there,
					 3,	1e6,   .is_for_moments = true };
	size_t chosen[ANCHOR_CHOICE_SITES];

	(void)state;
	/* How much all of them may does not matter of one alone. */
	assert_int_equal(anchor_choice_sites(&block, 1, SECOND_NS, &s, chosen), 1);
	assert_int_equal(chosen[0], 1);
	/* One that comes very often is better than none. */
	s.n = 1;
	assert_int_equal(anchor_choice_sites(&block, 1, SECOND_NS, &s, chosen), 1);
	s.n = 3;
	there[2] = true;
	assert_int_equal(anchor_choice_sites(&block, 1, SECOND_NS, &s, chosen), 0);
}

static void a_counter_far_away_tells_time(void **state)
{
	static const struct anchor_choice_block block = { 0x401000, 40000000, 10, 30 };
	static const struct anchor_site site = { .addr = 0x7f0000000000,
						 .times = 100000 };
	bool there = false;
	struct anchor_choice_sites s = { &site, &there, &there, 1, 250000, false };
	size_t chosen[ANCHOR_CHOICE_SITES];

	(void)state;
	assert_int_equal(anchor_choice_sites(&block, 1, SECOND_NS, &s, chosen), 1);
}

static void one_that_is_off_takes_nothing_from_others(void **state)
{
	static const struct anchor_choice_block block = { 0x401000, 40000000, 10, 30 };
	static const struct anchor_site sites[] = {
		{ .addr = 0x601100, .times = 20000000 },
		{ .addr = 0x401200, .times = 100000 },
	};
	static const bool there[] = { true, false };
	bool on[2] = { true, false };
	struct anchor_choice_sites s = { sites, there, on, 2, 250000, false };
	size_t chosen[ANCHOR_CHOICE_SITES];

	(void)state;
	assert_int_equal(anchor_choice_sites(&block, 1, SECOND_NS, &s, chosen), 0);
	on[0] = false;
	assert_int_equal(anchor_choice_sites(&block, 1, SECOND_NS, &s, chosen), 1);
	assert_int_equal(chosen[0], 1);
}

static void of_nothing_nothing_is_chosen(void **state)
{
	uint64_t chosen[ANCHOR_CHOICE_MAX];

	(void)state;
	assert_int_equal(anchor_choice_make(NULL, 0, SECOND_NS, chosen), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_bounded),
		cmocka_unit_test(what_is_near_the_most_executed_code_comes_first),
		cmocka_unit_test(code_that_blocks_share_is_never_chosen),
		cmocka_unit_test(counters_are_where_they_cost_little_and_tell_much),
		cmocka_unit_test(for_moments_they_may_come_more_often),
		cmocka_unit_test(a_counter_far_away_tells_time),
		cmocka_unit_test(one_that_is_off_takes_nothing_from_others),
		cmocka_unit_test(of_nothing_nothing_is_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
