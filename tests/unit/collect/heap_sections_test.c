/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collect/traced_cuts.h"
#include "collect/heap_sections.h"

static const struct heap_amount nothing;

static bool cut(struct heap_sections *s, uint64_t time_ns, bool is_by_timer)
{
	return heap_sections_cut(s, &(struct gauges_cut){ time_ns, is_by_timer },
				 (struct heap_amount){ 1, time_ns });
}

static void what_is_given_back_is_summed_by_where_and_when_it_was_taken(void **state)
{
	static const struct heap_given want[] = { { 0, 0, { 1, 5 } },
						  { 0, 1, { 2, 30 } },
						  { 1, 1, { 1, 7 } } };
	struct heap_sections s = { 0 };

	(void)state;
	heap_sections_begin(&s, 10);
	heap_sections_add_site(&s);
	heap_sections_give(&s, 0, (struct heap_amount){ 1, 5 });
	assert_true(cut(&s, 20, false));
	heap_sections_add_site(&s);
	heap_sections_give(&s, 1, (struct heap_amount){ 1, 7 });
	heap_sections_give(&s, 0, (struct heap_amount){ 1, 10 });
	heap_sections_give(&s, 0, (struct heap_amount){ 1, 20 });
	heap_sections_give(&s, 0, (struct heap_amount){ 1, 100 });
	heap_sections_take_back(&s, 0, (struct heap_amount){ 1, 100 });
	assert_int_equal(s.given.n, 1);
	assert_memory_equal(s.given.at, want, sizeof(*want));
	for (uint32_t i = 0; i < 2; i++) {
		struct heap_given x = heap_sections_giving(&s, i);

		assert_memory_equal(&x, &want[1 + i], sizeof(x));
	}
	assert_int_equal(heap_sections_born_ns(&s, 0), 10);
	assert_int_equal(heap_sections_born_ns(&s, 1), 20);
	assert_int_equal(s.all.at[1].held.bytes, 20);
	heap_sections_fini(&s);
}

static void a_section_in_which_nothing_happened_begins_later(void **state)
{
	struct heap_sections s = { 0 };

	(void)state;
	heap_sections_begin(&s, 10);
	assert_false(cut(&s, 20, false));
	assert_false(cut(&s, 30, true));
	heap_sections_add_site(&s);
	assert_int_equal(s.all.n, 1);
	assert_int_equal(heap_sections_born_ns(&s, 0), 30);
	assert_int_equal(s.all.at[0].n_uncut, 0);
	heap_sections_fini(&s);
}

static void what_is_heard_too_late_cuts_nothing(void **state)
{
	struct heap_sections s = { 0 };

	(void)state;
	heap_sections_begin(&s, 10);
	heap_sections_add_site(&s);
	assert_true(cut(&s, 100, false));
	heap_sections_add_site(&s);
	assert_false(cut(&s, 90, false));
	assert_false(cut(&s, 95, true));
	heap_sections_add_site(&s);
	assert_int_equal(s.all.n, 2);
	assert_int_equal(s.all.at[1].n_uncut, 0);
	assert_int_equal(heap_sections_born_ns(&s, 2), 100);
	assert_true(cut(&s, 110, false));
	assert_int_equal(s.all.at[2].from_ns, 110);
	heap_sections_fini(&s);
}

/* As a program of that many places for ever. */
static void timers_cut_as_often_as_can_be_paid_for(void **state)
{
	const unsigned n_places = 5000, n_seconds = 20000;
	struct heap_sections s = { 0 };
	uint64_t n_uncut = 0;

	(void)state;
	heap_sections_begin(&s, 0);
	for (unsigned i = 1; i <= n_seconds; i++) {
		bool is_new = !s.all.at[s.all.n - 1].n_uncut;

		for (unsigned k = 0; k < n_places && is_new; k++)
			heap_sections_add_site(&s);
		cut(&s, i * UINT64_C(1000000000), true);
	}
	vec_each(x, &s.all)
		n_uncut += x->n_uncut;
	assert_int_equal(n_uncut + s.all.n - 1, n_seconds);
	assert_in_range(s.sites.n, 200000, 600000);
	/* A mark does all the same. */
	assert_true(cut(&s, (n_seconds + 1) * UINT64_C(1000000000), false));
	heap_sections_fini(&s);
}

static void ends_come_by_their_times_before_the_next_event(void **state)
{
	struct gauges_cuts all = { 0 };
	struct traced_cuts c;
	struct gauges_cut end;

	(void)state;
	*vec_push(&all.heard) = (struct gauges_cut){ 5, true };
	*vec_push(&all.heard) = (struct gauges_cut){ 20, true };
	traced_cuts_begin(&c, &all, 10);
	assert_true(traced_cuts_are_due(&c, 11));
	assert_false(traced_cuts_next(&c, 11, &end));
	assert_false(traced_cuts_are_due(&c, 19));
	*vec_push(&all.heard) = (struct gauges_cut){ 15, false };
	assert_true(traced_cuts_are_due(&c, 12));
	assert_false(traced_cuts_next(&c, 12, &end));
	assert_true(traced_cuts_next(&c, 30, &end));
	assert_int_equal(end.time_ns, 15);
	assert_false(end.is_by_timer);
	assert_true(traced_cuts_next(&c, 30, &end));
	assert_int_equal(end.time_ns, 20);
	assert_false(traced_cuts_next(&c, 30, &end));
	assert_false(traced_cuts_are_due(&c, 30));
	traced_cuts_fini(&c);
	vec_fini(&all.heard);
}

/* So many that to move all for each would not end. */
static void ends_wait_for_who_does_nothing_for_long(void **state)
{
	const uint64_t n = 1000000;
	struct gauges_cuts all = { 0 };
	struct traced_cuts c;
	struct gauges_cut end;

	(void)state;
	traced_cuts_begin(&c, &all, 0);
	for (uint64_t i = 1; i <= n; i++)
		*vec_push(&all.heard) = (struct gauges_cut){ 2 * i, true };
	for (uint64_t i = 1; i < n; i++) {
		assert_true(traced_cuts_next(&c, 2 * n - 1, &end));
		assert_int_equal(end.time_ns, 2 * i);
	}
	assert_false(traced_cuts_next(&c, 2 * n - 1, &end));
	/* Before one that waits still, though behind those that do not. */
	*vec_push(&all.heard) = (struct gauges_cut){ 1, false };
	assert_true(traced_cuts_next(&c, 2 * n - 1, &end));
	assert_int_equal(end.time_ns, 1);
	assert_false(traced_cuts_are_due(&c, 2 * n - 1));
	assert_true(traced_cuts_next(&c, 2 * n, &end));
	assert_int_equal(end.time_ns, 2 * n);
	assert_int_equal(c.waiting.n, 0);
	traced_cuts_fini(&c);
	vec_fini(&all.heard);
}

static void who_is_told_of_no_intervals_has_no_ends(void **state)
{
	struct heap_sections s = { 0 };
	struct traced_cuts c;
	struct gauges_cut end;

	(void)state;
	traced_cuts_begin(&c, NULL, 10);
	assert_false(traced_cuts_next(&c, 100, &end));
	assert_false(traced_cuts_are_due(&c, 200));
	traced_cuts_fini(&c);
	assert_false(heap_sections_cut(&s, &(struct gauges_cut){ 1, false }, nothing));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_is_given_back_is_summed_by_where_and_when_it_was_taken),
		cmocka_unit_test(a_section_in_which_nothing_happened_begins_later),
		cmocka_unit_test(what_is_heard_too_late_cuts_nothing),
		cmocka_unit_test(timers_cut_as_often_as_can_be_paid_for),
		cmocka_unit_test(ends_come_by_their_times_before_the_next_event),
		cmocka_unit_test(ends_wait_for_who_does_nothing_for_long),
		cmocka_unit_test(who_is_told_of_no_intervals_has_no_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
