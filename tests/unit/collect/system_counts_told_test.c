/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums beside others who tell of processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "collect/system_classes.h"
#include "collect/tracker.h"
#include "counts_fixture.h"

/* Others tell a tracker of processes. */
struct told_fixture {
	struct counts_fixture f;
	struct tracker *tracker;
	struct system_classes *classes;
};

static void set_up_told_as(struct told_fixture *t, const struct system_counts_how *how)
{
	struct system_counts_events events = {
		.periods = { [STATE_RECORD_USER] = PERIOD_NS },
		.is_kept = true,
		.is_by_thread = true,
		.how = how,
	};

	counts_fixture_set_up_as(&t->f, true);
	events.ids[STATE_RECORD_USER] = counts_fixture_event_of(&t->f, "second");
	t->tracker = tracker_new(t->f.writer);
	t->classes = events.classes = system_classes_new();
	system_classes_begin(t->classes, t->f.writer, NULL, t->tracker);
	system_counts_begin(t->f.counts, t->f.writer, &events);
}

static void set_up_told(struct told_fixture *t)
{
	set_up_told_as(t, NULL);
}

static void tear_down_told(struct told_fixture *t)
{
	counts_fixture_tear_down(&t->f);
	system_classes_free(t->classes);
	tracker_free(t->tracker);
}

static void a_sum_waits_until_its_process_is_told_of(void **state)
{
	struct stack_record r = counts_fixture_thread_at(1, 10, "prog", EXE);
	struct told_fixture t;
	uint32_t told;

	(void)state;
	set_up_told(&t);
	counts_fixture_count(&t.f, &r, 1);
	system_counts_write_known(t.f.counts, 0, 1);
	assert_int_equal(system_counts_stats(t.f.counts)->samples, 0);
	tracker_exec(t.tracker, 5, r.pid, r.tid, "prog");
	told = tracker_thread(t.tracker, 5, r.pid, r.tid);
	system_counts_count(t.f.counts, 0, r.key, 1);
	system_counts_write_known(t.f.counts, 0, 2);
	assert_int_equal(system_counts_stats(t.f.counts)->samples, 2);
	counts_fixture_finish(&t.f);
	assert_int_equal(t.f.samples.n, 1);
	assert_int_equal(t.f.samples.thread[0], told);
	assert_int_equal(recording_n_processes(t.f.recording), 1);
	tear_down_told(&t);
}

static void a_sum_of_what_nobody_tells_of_waits_for_a_while(void **state)
{
	struct stack_record r = counts_fixture_thread_at(1, 10, "prog", EXE);
	struct told_fixture t;

	(void)state;
	set_up_told(&t);
	counts_fixture_count(&t.f, &r, 3);
	system_counts_write_known(t.f.counts, 0, 1);
	system_counts_write_known(t.f.counts, 0, 2);
	assert_int_equal(system_counts_stats(t.f.counts)->samples, 0);
	system_counts_write_known(t.f.counts, 0, 500000000);
	assert_int_equal(system_counts_stats(t.f.counts)->samples, 3);
	counts_fixture_finish(&t.f);
	assert_int_equal(t.f.samples.n, 1);
	assert_int_equal(t.f.samples.count[0], 3);
	tear_down_told(&t);
}

static void the_last_sums_do_not_wait(void **state)
{
	struct stack_record r = counts_fixture_thread_at(1, 10, "prog", EXE);
	struct told_fixture t;

	(void)state;
	set_up_told(&t);
	counts_fixture_count(&t.f, &r, 3);
	system_counts_write(t.f.counts, 0, 1);
	assert_int_equal(system_counts_stats(t.f.counts)->samples, 3);
	counts_fixture_finish(&t.f);
	tear_down_told(&t);
}

static void name_label(uint32_t label, char ret[SYSTEM_COUNTS_LABEL_MAX])
{
	snprintf(ret, SYSTEM_COUNTS_LABEL_MAX, "[call %u]", label);
}

/* One by one, what is of a process that nobody has told of waits as its sum does. */
static void each_waits_until_its_process_is_told_of(void **state)
{
	static const struct system_counts_how how = {
		.parts[STATE_RECORD_USER] = { .ns = SYSTEM_COUNTS_NONE,
					      .count = SYSTEM_COUNTS_NONE,
					      .each = STATE_RECORD_USER },
		.label = name_label,
	};
	const struct stack_record_each each = { .key = 1, .from_ns = 10, .ns = 4 };
	struct stack_record r = counts_fixture_thread_at(1, 10, "prog", EXE);
	struct told_fixture t;
	uint32_t told;

	(void)state;
	set_up_told_as(&t, &how);
	r.label = 7;
	system_counts_stack(t.f.counts, &r);
	system_counts_each(t.f.counts, &each);
	system_counts_write_known(t.f.counts, 0, 1);
	tracker_exec(t.tracker, 5, r.pid, r.tid, "prog");
	told = tracker_thread(t.tracker, 5, r.pid, r.tid);
	system_counts_write_known(t.f.counts, 0, 2);
	counts_fixture_finish(&t.f);
	assert_int_equal(t.f.samples.n, 1);
	assert_int_equal(t.f.samples.thread[0], told);
	assert_int_equal(recording_n_processes(t.f.recording), 1);
	tear_down_told(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_waits_until_its_process_is_told_of),
		cmocka_unit_test(a_sum_of_what_nobody_tells_of_waits_for_a_while),
		cmocka_unit_test(the_last_sums_do_not_wait),
		cmocka_unit_test(each_waits_until_its_process_is_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
