/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums that are several events each, inside of labels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "counts_fixture.h"

static void name_label(uint32_t label, char ret[SYSTEM_COUNTS_LABEL_MAX])
{
	snprintf(ret, SYSTEM_COUNTS_LABEL_MAX, "[call %u]", label);
}

static void name_outcome(uint64_t number, char ret[SYSTEM_COUNTS_LABEL_MAX])
{
	snprintf(ret, SYSTEM_COUNTS_LABEL_MAX, "[error %u]", (unsigned)(number >> 32));
}

static const char *leaf_of(const struct counts_fixture *f, size_t sample,
			   unsigned outwards)
{
	const struct model_stack *s =
		&recording_stacks(f->recording)[f->samples.stack[sample]];

	while (outwards--)
		s = &recording_stacks(f->recording)[s->parent];
	return recording_string(
		f->recording,
		recording_image(f->recording,
				recording_locations(f->recording)[s->location].image)
			->path);
}

/* One event of time, one of how often, one of what came of it. */
static void set_up_meanwhile(struct counts_fixture *f, struct system_counts_how *how,
			     void (*meanwhile)(void *counts))
{
	struct system_counts_events events = { .is_kept = true, .how = how };

	counts_fixture_set_up_as(f, true);
	events.meanwhile = meanwhile;
	events.meanwhile_ctx = f->counts;
	*how = (struct system_counts_how){
		.parts = { { .ns = 0,
			     .count = 1,
			     .n_waits = SYSTEM_COUNTS_NONE,
			     .pair = 2,
			     .each = 3,
			     .beside = 4 } },
		.label = name_label,
		.pair_label = name_outcome,
	};
	events.ids[0] = counts_fixture_event_of(f, "time");
	events.ids[1] = counts_fixture_event_of(f, "calls");
	events.ids[2] = counts_fixture_event_of(f, "errors");
	events.ids[3] = counts_fixture_event_of(f, "each");
	events.ids[4] = counts_fixture_event_of(f, "beside");
	system_counts_begin(f->counts, f->writer, &events);
}

static void set_up_parts(struct counts_fixture *f, struct system_counts_how *how)
{
	set_up_meanwhile(f, how, NULL);
}

static void the_parts_of_a_sum_are_events_below_its_label(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct state_record_sum sum = { .ns = 500, .count = 3 };
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_parts(&f, &how);
	r.label = 7;
	system_counts_stack(f.counts, &r);
	system_counts_time(f.counts, r.key, &sum);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 2);
	assert_int_equal(f.samples.weight[0], 500);
	assert_int_equal(f.samples.weight[1], 3);
	assert_int_equal(f.samples.stack[0], f.samples.stack[1]);
	assert_string_equal(leaf_of(&f, 0, 0), "[call 7]");
	counts_fixture_tear_down(&f);
}

static void time_of_what_has_not_ended_has_no_count(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct state_record_sum sum = { .ns = 500 };
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_parts(&f, &how);
	r.label = 7;
	system_counts_stack(f.counts, &r);
	system_counts_time(f.counts, r.key, &sum);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 1);
	assert_int_equal(f.samples.weight[0], 500);
	counts_fixture_tear_down(&f);
}

static void what_came_of_a_sum_is_inside_of_its_label(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct stack_record_pair pair = { .kind = STACK_RECORD_PAIR,
					  .key = 2,
					  .waiter = 1,
					  .waker = UINT64_C(9) << 32 };
	struct state_record_sum sum = { .count = 4 };
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_parts(&f, &how);
	r.label = 7;
	system_counts_stack(f.counts, &r);
	system_counts_pair(f.counts, &pair);
	system_counts_time(f.counts, pair.key, &sum);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 1);
	assert_int_equal(f.samples.weight[0], 4);
	assert_string_equal(leaf_of(&f, 0, 0), "[error 9]");
	assert_string_equal(leaf_of(&f, 0, 1), "[call 7]");
	counts_fixture_tear_down(&f);
}

static const struct stack_record_each each = {
	.kind = STACK_RECORD_EACH, .key = 1, .from_ns = 70, .ns = 20
};

static void each_is_told_at_its_time_inside_of_its_label(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct state_record_sum sum = { .ns = 20, .count = 1 };
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_parts(&f, &how);
	r.label = 7;
	system_counts_stack(f.counts, &r);
	system_counts_each(f.counts, &each);
	system_counts_time(f.counts, r.key, &sum);
	system_counts_write(f.counts, 0, 100);
	system_counts_write(f.counts, 0, 200);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 3);
	assert_string_equal(
		recording_string(f.recording,
				 recording_event(f.recording, f.samples.event[2])->name),
		"each");
	assert_int_equal(f.samples.time_ns[2], 70);
	assert_int_equal(f.samples.weight[2], 20);
	assert_int_equal(f.samples.stack[2], f.samples.stack[0]);
	counts_fixture_tear_down(&f);
}

static bool is_seven(uint32_t label)
{
	return label == 7;
}

static void each_that_goes_on_beside_its_thread_is_of_another_event(void **state)
{
	struct stack_record within = counts_fixture_running(1, 100);
	struct stack_record beside = counts_fixture_running(2, 100);
	static const char *const names[] = { "each", "beside" };
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_parts(&f, &how);
	how.is_beside = is_seven;
	within.label = 8;
	beside.label = 7;
	system_counts_stack(f.counts, &within);
	system_counts_stack(f.counts, &beside);
	for (uint64_t key = 1; key <= 2; key++)
		system_counts_each(f.counts, &(struct stack_record_each){ .key = key,
									  .from_ns = 70,
									  .ns = 20 });
	system_counts_write(f.counts, 0, 100);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(
			recording_string(
				f.recording,
				recording_event(f.recording, f.samples.event[i])->name),
			names[i]);
	counts_fixture_tear_down(&f);
}

/* Another CPU's ring has it, which was fetched before. */
static void each_waits_a_while_for_what_it_is_of(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_parts(&f, &how);
	r.label = 7;
	system_counts_each(f.counts, &each);
	system_counts_write(f.counts, 0, 100000000);
	assert_int_equal(system_counts_stats(f.counts)->strays, 0);
	system_counts_stack(f.counts, &r);
	system_counts_write(f.counts, 0, 200000000);
	system_counts_each(f.counts, &(struct stack_record_each){ .key = 3, .ns = 1 });
	system_counts_write(f.counts, 0, 300000000);
	system_counts_write(f.counts, 0, 400000000);
	system_counts_write(f.counts, 0, 500000000);
	assert_int_equal(system_counts_stats(f.counts)->strays, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 1);
	assert_int_equal(f.samples.time_ns[0], 70);
	counts_fixture_tear_down(&f);
}

/* Rings are looked at while many are written, and have more. */
static void one_more(void *counts)
{
	system_counts_each(counts, &each);
}

static void each_that_comes_meanwhile_is_not_lost(void **state)
{
	struct stack_record r = counts_fixture_running(1, 100);
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_meanwhile(&f, &how, one_more);
	r.label = 7;
	system_counts_stack(f.counts, &r);
	for (unsigned i = 0; i < 600; i++)
		system_counts_each(f.counts, &each);
	system_counts_write(f.counts, 0, 100);
	system_counts_write(f.counts, 0, 200);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 600 + 2);
	counts_fixture_tear_down(&f);
}

#define OURS 13 /* the label of what our library does */

static bool is_ours(void *ctx, uint32_t label)
{
	(void)ctx;
	return label == OURS;
}

/* Of one sum there is something once. */
static size_t take_once(void *ctx, uint32_t number,
			struct system_counts_more ret[SYSTEM_COUNTS_MORE_MAX])
{
	uint64_t *bytes = ctx;

	*ret = (struct system_counts_more){ .event = 2, .weight = bytes[number] };
	bytes[number] = 0;
	return 1;
}

/* It would be what the next sum of its number is told with. */
static void what_is_beside_a_sum_goes_with_it_also_where_it_is_no_sample(void **state)
{
	uint64_t bytes[] = { 0, 10, 20, 30, 40 };
	struct stack_record ours = counts_fixture_running(1, 100),
			    other = counts_fixture_running(2, 100),
			    late = counts_fixture_running(4, 100);
	struct state_record_sum sum = { .count = 1 };
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_parts(&f, &how);
	how.is_own = is_ours;
	how.more = take_once;
	how.ctx = bytes;
	ours.label = OURS;
	other.label = late.label = 7;
	system_counts_stack(f.counts, &ours);
	system_counts_stack(f.counts, &other);
	for (uint64_t key = 1; key <= 3; key++) /* the third is a stray */
		system_counts_time(f.counts, key, &sum);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 2);
	assert_int_equal(f.samples.weight[0], 1);
	assert_int_equal(f.samples.weight[1], 20);
	system_counts_stack(f.counts, &late);
	system_counts_time(f.counts, late.key, &sum);
	system_counts_write(f.counts, 0, 2); /* there is no recording */
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		assert_int_equal(bytes[i], 0);
	counts_fixture_tear_down(&f);
}

#define FIRST	    STATE_RECORD_NUMBER(0, 1)
#define FIRST_FILE  STATE_RECORD_NUMBER(0, 2)
#define NEXT	    STATE_RECORD_NUMBER(1, 1)
#define NEXT_FILE   STATE_RECORD_NUMBER(1, 2)
#define NEXT_ERROR  STATE_RECORD_NUMBER(1, 3)
#define LATER	    STATE_RECORD_NUMBER(2, 1)
#define OTHER_STATE 3

/* Of two events. */
static void set_up_again(struct counts_fixture *f, struct system_counts_how *how)
{
	struct stack_record r = counts_fixture_running(FIRST, 100);

	set_up_parts(f, how);
	for (unsigned i = 1; i <= OTHER_STATE; i++)
		how->parts[i] =
			(struct system_counts_parts){ .ns = SYSTEM_COUNTS_NONE,
						      .count = 2,
						      .n_waits = SYSTEM_COUNTS_NONE,
						      .pair = 1 };
	r.label = 7;
	system_counts_stack(f->counts, &r);
}

static void tell_again(struct counts_fixture *f, uint64_t key, uint64_t of,
		       uint32_t label)
{
	system_counts_again(
		f->counts, &(struct stack_record_again){ .kind = STACK_RECORD_AGAIN,
							 .state = label ? OTHER_STATE : 0,
							 .label = label,
							 .key = key,
							 .of = of });
}

static void assert_is_of_other_label(const struct counts_fixture *f, size_t sample)
{
	assert_int_equal(f->samples.weight[sample], 4);
	assert_string_equal(leaf_of(f, sample, 0), "[call 9]");
	assert_int_equal(recording_stacks(f->recording)[f->samples.stack[sample]].parent,
			 recording_stacks(f->recording)[f->samples.stack[0]].parent);
	assert_int_equal(f->samples.event[sample], f->samples.event[1]);
}

static void a_sum_may_be_of_another_s_stack_and_have_its_own_label(void **state)
{
	struct state_record_sum sum = { .ns = 500, .count = 4 };
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_again(&f, &how);
	tell_again(&f, FIRST_FILE, FIRST, 9);
	system_counts_time(f.counts, FIRST, &(struct state_record_sum){ .ns = 500 });
	system_counts_time(f.counts, FIRST_FILE, &sum);
	system_counts_write(f.counts, 0, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 2);
	assert_string_equal(leaf_of(&f, 0, 0), "[call 7]");
	assert_int_not_equal(f.samples.event[0], f.samples.event[1]);
	assert_is_of_other_label(&f, 1);
	assert_int_equal(system_counts_stats(f.counts)->strays, 0);
	counts_fixture_tear_down(&f);
}

/* In any order: one is the same as its sum of before, the other is of the stack's. */
static void a_label_outlives_the_key_of_its_stack(void **state)
{
	const struct {
		uint64_t of;
		uint32_t label;
	} t[] = { { FIRST_FILE, 0 }, { NEXT, 9 } };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (unsigned is_forgotten = 0; is_forgotten < 2; is_forgotten++) {
			struct state_record_sum sum = { .ns = 500, .count = 4 };
			struct system_counts_how how;
			struct counts_fixture f;

			set_up_again(&f, &how);
			tell_again(&f, NEXT_FILE, t[i].of, t[i].label);
			tell_again(&f, FIRST_FILE, FIRST, 9);
			tell_again(&f, NEXT, FIRST, 0);
			system_counts_time(f.counts, FIRST,
					   &(struct state_record_sum){ .ns = 500 });
			system_counts_time(f.counts, FIRST_FILE, &sum);
			system_counts_write(f.counts, 0, 1);
			if (is_forgotten)
				system_counts_forget(f.counts, 0);
			system_counts_time(f.counts, NEXT_FILE, &sum);
			system_counts_write(f.counts, 1, 2);
			counts_fixture_finish(&f);
			assert_int_equal(f.samples.n, 3);
			assert_is_of_other_label(&f, 1);
			assert_is_of_other_label(&f, 2);
			assert_int_equal(system_counts_stats(f.counts)->strays, 0);
			counts_fixture_tear_down(&f);
		}
}

static void what_came_of_a_sum_of_another_s_stack_is_inside_of_its_own_label(void **state)
{
	struct stack_record_pair pair = { .kind = STACK_RECORD_PAIR,
					  .key = NEXT_ERROR,
					  .waiter = NEXT_FILE,
					  .waker = UINT64_C(5) << 32 };
	struct system_counts_how how;
	struct counts_fixture f;

	(void)state;
	set_up_again(&f, &how);
	tell_again(&f, FIRST_FILE, FIRST, 9);
	tell_again(&f, NEXT_FILE, FIRST_FILE, 0);
	system_counts_pair(f.counts, &pair);
	system_counts_forget(f.counts, 0);
	system_counts_time(f.counts, pair.key, &(struct state_record_sum){ .count = 4 });
	system_counts_write(f.counts, 1, 1);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 1);
	assert_int_equal(f.samples.weight[0], 4);
	assert_string_equal(leaf_of(&f, 0, 0), "[error 5]");
	assert_string_equal(leaf_of(&f, 0, 1), "[call 9]");
	counts_fixture_tear_down(&f);
}

/* Of one that nobody ever told of, or of itself. */
static void what_is_the_same_as_nothing_is_a_stray(void **state)
{
	const uint64_t of[] = { LATER, FIRST_FILE };

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct system_counts_how how;
		struct counts_fixture f;

		set_up_again(&f, &how);
		tell_again(&f, FIRST_FILE, of[i], 9);
		system_counts_time(f.counts, FIRST_FILE,
				   &(struct state_record_sum){ .count = 4 });
		system_counts_write(f.counts, 0, 1);
		counts_fixture_finish(&f);
		assert_int_equal(f.samples.n, 0);
		assert_int_equal(system_counts_stats(f.counts)->strays, 4);
		counts_fixture_tear_down(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_sum_are_events_below_its_label),
		cmocka_unit_test(time_of_what_has_not_ended_has_no_count),
		cmocka_unit_test(what_came_of_a_sum_is_inside_of_its_label),
		cmocka_unit_test(each_is_told_at_its_time_inside_of_its_label),
		cmocka_unit_test(each_that_goes_on_beside_its_thread_is_of_another_event),
		cmocka_unit_test(each_waits_a_while_for_what_it_is_of),
		cmocka_unit_test(each_that_comes_meanwhile_is_not_lost),
		cmocka_unit_test(
			what_is_beside_a_sum_goes_with_it_also_where_it_is_no_sample),
		cmocka_unit_test(a_sum_may_be_of_another_s_stack_and_have_its_own_label),
		cmocka_unit_test(a_label_outlives_the_key_of_its_stack),
		cmocka_unit_test(
			what_came_of_a_sum_of_another_s_stack_is_inside_of_its_own_label),
		cmocka_unit_test(what_is_the_same_as_nothing_is_a_stray),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
