/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums beside others who tell of processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/tracker.h"
#include "counts_fixture.h"

/* Others tell a tracker of processes. */
static struct tracker *set_up_told(struct counts_fixture *f)
{
	struct system_counts_events events = {
		.periods = { [STATE_RECORD_USER] = PERIOD_NS },
		.is_kept = true,
		.is_by_thread = true,
	};

	counts_fixture_set_up_as(f, true);
	events.ids[STATE_RECORD_USER] = counts_fixture_event_of(f, "second");
	events.tracker = tracker_new(f->writer);
	system_counts_begin(f->counts, f->writer, &events);
	return events.tracker;
}

static void a_sum_waits_until_its_process_is_told_of(void **state)
{
	struct stack_record r = counts_fixture_thread_at(1, 10, "prog", EXE);
	own(tracker_freep) struct tracker *t = NULL;
	struct counts_fixture f;
	uint32_t told;

	(void)state;
	t = set_up_told(&f);
	counts_fixture_count(&f, &r, 1);
	system_counts_write_known(f.counts, 0, 1);
	assert_int_equal(system_counts_stats(f.counts)->samples, 0);
	tracker_exec(t, 5, r.pid, r.tid, "prog");
	told = tracker_thread(t, 5, r.pid, r.tid);
	system_counts_count(f.counts, 0, r.key, 1);
	system_counts_write_known(f.counts, 0, 2);
	assert_int_equal(system_counts_stats(f.counts)->samples, 2);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 1);
	assert_int_equal(f.samples.thread[0], told);
	assert_int_equal(recording_n_processes(f.recording), 1);
	counts_fixture_tear_down(&f);
}

static void a_sum_of_what_nobody_tells_of_waits_once(void **state)
{
	struct stack_record r = counts_fixture_thread_at(1, 10, "prog", EXE);
	own(tracker_freep) struct tracker *t = NULL;
	struct counts_fixture f;

	(void)state;
	t = set_up_told(&f);
	counts_fixture_count(&f, &r, 3);
	system_counts_write_known(f.counts, 0, 1);
	assert_int_equal(system_counts_stats(f.counts)->samples, 0);
	system_counts_write_known(f.counts, 0, 2);
	assert_int_equal(system_counts_stats(f.counts)->samples, 3);
	counts_fixture_finish(&f);
	assert_int_equal(f.samples.n, 1);
	assert_int_equal(f.samples.count[0], 3);
	counts_fixture_tear_down(&f);
}

static void the_last_sums_do_not_wait(void **state)
{
	struct stack_record r = counts_fixture_thread_at(1, 10, "prog", EXE);
	own(tracker_freep) struct tracker *t = NULL;
	struct counts_fixture f;

	(void)state;
	t = set_up_told(&f);
	counts_fixture_count(&f, &r, 3);
	system_counts_write(f.counts, 0, 1);
	assert_int_equal(system_counts_stats(f.counts)->samples, 3);
	counts_fixture_finish(&f);
	counts_fixture_tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_waits_until_its_process_is_told_of),
		cmocka_unit_test(a_sum_of_what_nobody_tells_of_waits_once),
		cmocka_unit_test(the_last_sums_do_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
