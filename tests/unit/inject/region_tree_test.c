/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "inject/region_tree.h"

enum { MAIN = 1, FOO, BAR, COUNTER, INNER };

static int set_up(void **state)
{
	struct region_tree *t = calloc(1, sizeof(*t));

	region_tree_init(t, 0);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static void check(const struct region_tree *t, const struct region_slice *want,
		  uint32_t n)
{
	struct region_slice have[8];

	assert_int_equal(region_tree_n_slices(t), n);
	assert_int_equal(region_tree_slices(t, 0, have, 8), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(have[i].region, want[i].region);
		assert_int_equal(have[i].calls, want[i].calls);
		assert_int_equal(have[i].subroutines, want[i].subroutines);
		assert_int_equal(have[i].exclusive, want[i].exclusive);
		assert_int_equal(have[i].inclusive, want[i].inclusive);
		assert_int_equal(have[i].instance_exclusive, want[i].instance_exclusive);
		assert_int_equal(have[i].instance_inclusive, want[i].instance_inclusive);
	}
}

/* TAU's page on performance callstacks prints 5 for main's exclusive time.  Its time is
 * 0 to 5 and 10 to 15, and exclusive times make up the 25 that have passed: 10 + 5 + 10.
 */
static void the_worked_example_of_a_performance_callstack(void **state)
{
	struct region_tree *t = *state;
	static const struct region_slice want[] = {
		{ MAIN, 0, 1, 2, 10, 25, 10, 25 },
		{ BAR, 0, 1, 1, 5, 10, 5, 10 },
		{ FOO, 0, 2, 0, 10, 10, 5, 5 },
	};

	region_tree_begin(t, MAIN, 0, NULL);
	region_tree_begin(t, FOO, 5, NULL);
	assert_true(region_tree_end(t, FOO, 10));
	region_tree_begin(t, BAR, 15, NULL);
	region_tree_begin(t, FOO, 20, NULL);
	region_tree_pass(t, 25);
	check(t, want, 3);
}

static void recursion_counts_once(void **state)
{
	struct region_tree *t = *state;
	/* foo [0, 40] has foo [10, 30] in it, which has foo [20, …] in it. */
	static const struct region_slice want[] = {
		{ FOO, 0, 3, 2, 25, 25, 10, 25 },
		{ FOO, 0, 3, 2, 25, 25, 10, 15 },
		{ FOO, 0, 3, 2, 25, 25, 5, 5 },
	};
	static const struct region_slice later[] = {
		{ FOO, 0, 4, 2, 47, 47, 7, 7 },
	};

	region_tree_begin(t, FOO, 0, NULL);
	region_tree_begin(t, FOO, 10, NULL);
	region_tree_begin(t, FOO, 20, NULL);
	region_tree_pass(t, 25);
	check(t, want, 3);
	region_tree_end(t, FOO, 25);
	region_tree_end(t, FOO, 30);
	region_tree_end(t, FOO, 40);
	check(t, NULL, 0);
	region_tree_begin(t, FOO, 100, NULL);
	region_tree_pass(t, 107);
	check(t, later, 1);
}

static void an_outer_end_ends_what_is_inside(void **state)
{
	struct region_tree *t = *state;
	static const struct region_slice want[] = { { MAIN, 0, 1, 1, 9, 12, 9, 12 } };

	region_tree_begin(t, MAIN, 0, NULL);
	region_tree_begin(t, BAR, 1, NULL);
	region_tree_begin(t, FOO, 2, NULL);
	assert_true(region_tree_end(t, BAR, 4));
	assert_int_equal(t->n_cut, 1);
	assert_false(region_tree_end(t, FOO, 5));
	assert_int_equal(t->n_unmatched, 1);
	region_tree_pass(t, 12);
	check(t, want, 1);
}

static void a_muted_region_keeps_its_place(void **state)
{
	struct region_tree *t = *state;
	static const struct region_slice want[] = { { MAIN, 0, 1, 0, 10, 10, 10, 10 } };
	static const struct region_slice inside[] = { { MAIN, 0, 1, 1, 10, 15, 10, 15 },
						      { BAR, 0, 1, 0, 5, 5, 5, 5 } };

	region_tree_begin(t, MAIN, 0, NULL);
	region_tree_begin_muted(t, FOO, NULL);
	region_tree_pass(t, 10);
	check(t, want, 1);
	region_tree_begin(t, BAR, 10, NULL);
	region_tree_pass(t, 15);
	check(t, inside, 2);
	region_tree_end(t, BAR, 15);
	assert_true(region_tree_ends_muted(t, FOO, 0));
	region_tree_end(t, FOO, t->last);
	assert_false(region_tree_ends_muted(t, MAIN, 0));
	assert_true(region_tree_end(t, MAIN, 20));
	assert_int_equal(t->n_unmatched + t->n_cut, 0);
}

static void a_region_without_a_number_is_refused(void **state)
{
	struct region_tree *t = *state;
	static const struct region_slice want[] = { { MAIN, 0, 1, 0, 10, 10, 10, 10 } };

	region_tree_begin(t, MAIN, 0, NULL);
	region_tree_begin_muted(t, 0, NULL);
	region_tree_begin_muted(t, 0, NULL);
	assert_int_equal(t->n_refused, 2);
	assert_true(region_tree_ends_muted(t, 0, 0));
	assert_true(region_tree_end(t, 0, t->last));
	assert_true(region_tree_end(t, 0, t->last));
	assert_false(region_tree_ends_muted(t, 0, 0));
	assert_false(region_tree_end(t, 0, 5));
	region_tree_pass(t, 10);
	check(t, want, 1);
}

static const struct region_frame in_main = { 0x9000, 0x100, 0x400 };

static void functions_whose_frames_are_gone_have_ended(void **state)
{
	struct region_tree *t = *state;
	static const struct region_frame deeper = { 0x8000, 0x410, 0x500 };
	static const struct region_frame higher = { 0x8800, 0x420, 0x600 };
	static const struct region_frame elsewhere = { 0x9000 + (1 << 20), 0x100, 0x700 };
	static const struct region_slice want[] = { { MAIN, 0, 1, 2, 1, 9, 1, 9 },
						    { BAR, 0, 1, 0, 0, 0, 0, 0 } };

	region_tree_begin(t, MAIN, 0, &in_main);
	region_tree_begin(t, FOO, 1, &deeper);
	region_tree_unwind(t, &higher, 9); /* longjmp into main, which calls */
	region_tree_begin(t, BAR, 9, &higher);
	assert_int_equal(region_tree_n_slices(t), 2);
	assert_int_equal(t->n_cut, 1);
	check(t, want, 2);
	region_tree_unwind(t, &elsewhere, 9); /* another stack */
	assert_int_equal(region_tree_n_slices(t), 2);
}

static void what_a_function_has_begun_ends_with_its_frame(void **state)
{
	struct region_tree *t = *state;
	static const struct region_frame deeper = { 0x8000, 0x410, 0x500 };
	static const struct region_frame higher = { 0x8800, 0x420, 0x600 };
	static const struct region_slice want[] = { { MAIN, 0, 1, 2, 1, 9, 1, 9 },
						    { BAR, 0, 1, 0, 0, 0, 0, 0 } };

	region_tree_begin(t, MAIN, 0, &in_main);
	region_tree_begin(t, FOO, 1, &deeper);
	region_tree_begin(t, INNER, 2, NULL);
	region_tree_begin_muted(t, BAR, NULL);
	region_tree_unwind(t, &higher, 9);
	region_tree_begin(t, BAR, 9, &higher);
	check(t, want, 2);
	assert_int_equal(t->n_cut, 3);
	/* Regions of who is still there stay. */
	assert_true(region_tree_end(t, BAR, 9));
	region_tree_begin(t, INNER, 9, NULL);
	region_tree_unwind(t, &higher, 9);
	assert_int_equal(region_tree_n_slices(t), 2);
	assert_int_equal(t->n_cut, 3);
}

static void who_is_left_by_a_jump_to_itself_is_not_who_returns(void **state)
{
	struct region_tree *t = *state;
	static const struct region_frame outer = { 0x8000, 0x410, 0x500 };
	static const struct region_frame within = { 0x7000, 0x520, 0x500 };
	static const struct region_frame deepest = { 0x6000, 0x520, 0x500 };
	static const struct region_slice want[] = { { MAIN, 0, 1, 1, 11, 20, 11, 20 } };

	region_tree_begin(t, MAIN, 0, &in_main);
	region_tree_begin(t, FOO, 1, &outer);
	region_tree_begin(t, FOO, 2, &within);
	region_tree_begin(t, FOO, 3, &deepest);
	assert_true(region_tree_return(t, FOO, outer.back, 10));
	region_tree_pass(t, 20);
	check(t, want, 1);
	assert_int_equal(t->n_cut, 2);
	/* Who has begun elsewhere returns all the same. */
	region_tree_begin(t, FOO, 20, &outer);
	assert_true(region_tree_return(t, FOO, 0x999, 20));
	assert_int_equal(region_tree_n_slices(t), 1);
	assert_false(region_tree_return(t, FOO, outer.back, 20));
	assert_int_equal(t->n_unmatched, 1);
}

/* Its group was switched off when it called itself, and it is left by a jump to where it
 * was called first: its own end has a time. */
static void who_is_left_muted_by_a_jump_to_itself_has_no_part_in_its_end(void **state)
{
	struct region_tree *t = *state;
	static const struct region_frame outer = { 0x8000, 0x410, 0x500 };
	static const struct region_frame within = { 0x7000, 0x520, 0x500 };
	static const struct region_slice want[] = { { MAIN, 0, 1, 1, 11, 20, 11, 20 } };

	region_tree_begin(t, MAIN, 0, &in_main);
	region_tree_begin(t, FOO, 1, &outer);
	region_tree_begin_muted(t, FOO, &within);
	assert_true(region_tree_ends_muted(t, FOO, within.back));
	assert_false(region_tree_ends_muted(t, FOO, outer.back));
	assert_true(region_tree_return(t, FOO, outer.back, 10));
	region_tree_pass(t, 20);
	check(t, want, 1);
	assert_int_equal(t->nodes[2].inclusive, 9);
	assert_int_equal(t->n_cut, 1);
}

static void a_function_within_anothers_frame_is_in_it(void **state)
{
	struct region_tree *t = *state;
	static const struct {
		struct region_frame frame;
		uint64_t n_cut;
	} cases[] = {
		{ { 0x8000, 0x410, 0x500 }, 0 }, /* called by main */
		{ { 0x9000, 0x100, 0x440 }, 0 }, /* in main's own frame */
		{ { 0x9000, 0x104, 0x500 }, 1 }, /* called from another place */
		{ { 0x9000, 0x100, 0x400 }, 1 }, /* main again, after a longjmp */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		region_tree_init(t, 0);
		region_tree_begin(t, MAIN, 0, &in_main);
		region_tree_unwind(t, &cases[i].frame, 1);
		assert_int_equal(t->n_cut, cases[i].n_cut);
	}
}

static void who_is_inlined_into_itself_is_not_gone(void **state)
{
	struct region_tree *t = *state;
	static const struct region_frame outer = { 0x9000, 0x100, 0x400 };
	static const struct region_frame inner = { 0x9000, 0x100, 0x480 };

	region_tree_begin(t, FOO, 0, &outer);
	for (uint64_t i = 1; i < 10; i += 2) {
		region_tree_unwind(t, &inner, i);
		region_tree_begin(t, FOO, i, &inner);
		assert_int_equal(region_tree_n_slices(t), 2);
		region_tree_end(t, FOO, i + 1);
	}
	assert_int_equal(t->n_cut, 0);
}

static void a_counter_takes_no_time(void **state)
{
	struct region_tree *t = *state;
	static const struct region_slice want[] = { { MAIN, 0, 1, 0, 8, 8, 8, 8 } };

	region_tree_begin(t, MAIN, 0, NULL);
	region_tree_count(t, COUNTER, 40);
	region_tree_count(t, COUNTER, 2);
	region_tree_pass(t, 8);
	check(t, want, 1);
	assert_int_equal(t->nodes[2].region, COUNTER);
	assert_int_equal(t->nodes[2].calls, 2);
	assert_int_equal(t->nodes[2].exclusive, 42);
}

static void changes_come_parents_first_and_once(void **state)
{
	struct region_tree *t = *state;

	region_tree_begin(t, MAIN, 0, NULL);
	region_tree_begin(t, FOO, 1, NULL);
	region_tree_end(t, FOO, 2);
	assert_int_equal(region_tree_take_dirty(t), 1);
	assert_int_equal(region_tree_take_dirty(t), 2);
	assert_int_equal(region_tree_take_dirty(t), REGION_TREE_CLEAN);
	region_tree_pass(t, 3);
	assert_int_equal(region_tree_take_dirty(t), 1);
	assert_int_equal(region_tree_take_dirty(t), REGION_TREE_CLEAN);
}

static void a_forked_child_begins_with_what_is_active(void **state)
{
	struct region_tree *t = *state;
	static const struct region_slice want[] = { { MAIN, 0, 0, 1, 5, 7, 5, 7 },
						    { FOO, 0, 1, 0, 2, 2, 2, 2 } };

	region_tree_begin(t, MAIN, 0, NULL);
	region_tree_begin(t, BAR, 1, NULL);
	region_tree_end(t, BAR, 2);
	region_tree_restart(t, 100);
	assert_int_equal(region_tree_take_dirty(t), 0);
	assert_int_equal(region_tree_take_dirty(t), 1);
	assert_int_equal(region_tree_take_dirty(t), REGION_TREE_CLEAN);
	region_tree_begin(t, FOO, 105, NULL);
	region_tree_pass(t, 107);
	check(t, want, 2);
}

static void clocks_that_differ_do_not_turn_time_back(void **state)
{
	struct region_tree *t = *state;
	static const struct region_slice want[] = { { MAIN, 0, 1, 0, 5, 5, 5, 5 } };
	static const struct region_slice later[] = { { MAIN, 0, 1, 1, 5, 6, 5, 6 },
						     { FOO, 0, 1, 0, 1, 1, 1, 1 } };

	region_tree_begin(t, MAIN, 10, NULL);
	region_tree_pass(t, 8);
	region_tree_pass(t, 15);
	check(t, want, 1);
	region_tree_begin(t, FOO, 12, NULL);
	region_tree_pass(t, 16);
	check(t, later, 2);
}

static void what_has_no_room_is_its_callers_time(void **state)
{
	struct region_tree *t = *state;
	uint64_t now = 0, n_deeper = 100;

	region_tree_begin(t, MAIN, 0, NULL);
	for (uint64_t i = 0; i < REGION_TREE_DEPTH_MAX + n_deeper; i++)
		region_tree_begin(t, FOO, ++now, NULL);
	assert_int_equal(t->n_refused, n_deeper + 2);
	for (uint64_t i = 0; i < REGION_TREE_DEPTH_MAX + n_deeper; i++)
		assert_true(region_tree_end(t, FOO, ++now));
	assert_int_equal(region_tree_n_slices(t), 1);
	for (uint32_t i = 0; i < REGION_TREE_NODES_MAX + 10; i++) {
		region_tree_begin(t, 100 + i, ++now, NULL);
		assert_true(region_tree_end(t, 100 + i, ++now));
	}
	assert_true(region_tree_end(t, MAIN, ++now));
	assert_int_equal(t->n_cut + t->n_unmatched, 0);
	assert_int_equal(t->n_nodes, REGION_TREE_NODES_MAX);
}

static void what_had_no_room_is_left_with_what_had(void **state)
{
	struct region_tree *t = *state;
	const uint32_t n_deep = REGION_TREE_DEPTH_MAX + 100;
	struct region_frame frame = in_main;

	region_tree_begin(t, MAIN, 0, &frame);
	for (uint32_t i = 0; i < n_deep; i++) {
		frame = (struct region_frame){ frame.place - 1, 0x410, 0x500 };
		region_tree_begin(t, FOO, i, &frame);
	}
	assert_true(t->n_beyond > 0);
	frame = (struct region_frame){ in_main.place - 1, 0x420, 0x600 };
	region_tree_unwind(t, &frame, n_deep); /* longjmp into main, which calls */
	region_tree_begin(t, BAR, n_deep, &frame);
	assert_int_equal(region_tree_n_slices(t), 2);
	region_tree_end(t, BAR, n_deep);
	assert_int_equal(region_tree_n_slices(t), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_worked_example_of_a_performance_callstack),
		TEST(recursion_counts_once),
		TEST(an_outer_end_ends_what_is_inside),
		TEST(a_muted_region_keeps_its_place),
		TEST(a_region_without_a_number_is_refused),
		TEST(functions_whose_frames_are_gone_have_ended),
		TEST(what_a_function_has_begun_ends_with_its_frame),
		TEST(who_is_left_by_a_jump_to_itself_is_not_who_returns),
		TEST(who_is_left_muted_by_a_jump_to_itself_has_no_part_in_its_end),
		TEST(a_function_within_anothers_frame_is_in_it),
		TEST(who_is_inlined_into_itself_is_not_gone),
		TEST(a_counter_takes_no_time),
		TEST(changes_come_parents_first_and_once),
		TEST(a_forked_child_begins_with_what_is_active),
		TEST(clocks_that_differ_do_not_turn_time_back),
		TEST(what_has_no_room_is_its_callers_time),
		TEST(what_had_no_room_is_left_with_what_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
