/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_files.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf_fixture.h"

#define MS	    1000000
#define STACK_BYTES 30000 /* more than is copied beside perf_deep */

static pid_t me(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void open_mine(struct perf_fixture *f)
{
	struct err e = { 0 };

	if (perf_files_open(&f->files, me(), &e) < 0)
		fail_msg("%s", e.text);
}

static uint32_t last_cpu(const struct perf_fixture *f)
{
	return f->cpus.ids.at[f->cpus.ids.n - 1];
}

static void samples_of_all_cpus_come_in_the_order_of_their_time(void **state)
{
	struct perf_fixture_seen seen = { 0 };
	struct perf_fixture f;
	uint64_t most_ns;

	(void)state;
	perf_fixture_init(&f, SCOPE_THREADS);
	perf_fixture_add_samples(&f);
	open_mine(&f);
	for (int round = 0; round < 5; round++) {
		perf_fixture_pin(f.cpus.ids.at[0]);
		perf_fixture_work(6 * MS, 0);
		perf_fixture_pin(last_cpu(&f));
		perf_fixture_work(6 * MS, 0);
	}
	perf_files_disable_all(&f.files);
	perf_fixture_drain(&f, &seen);
	most_ns = 120 * MS + perf_fixture_stolen_ns(&f);
	assert_in_range(seen.n, 10, most_ns / MS);
	assert_int_equal(seen.n_unknown, 0);
	assert_false(seen.is_out_of_order);
	assert_true(seen.on[f.cpus.ids.at[0]] && seen.on[last_cpu(&f)]);
	assert_in_range(perf_files_count(&f.files, 0), 60 * MS, most_ns);
	seen.n = 0;
	perf_fixture_drain(&f, &seen);
	assert_int_equal(seen.n, 0); /* each once */
	perf_fixture_fini(&f);
}

/* Here it is a clock of the kernel's that has none; a CPU may have none, either. */
static void who_keeps_no_branches_is_asked_without(void **state)
{
	struct perf_fixture_seen seen = { 0 };
	struct perf_fixture f;

	(void)state;
	perf_fixture_init(&f, SCOPE_THREADS);
	perf_fixture_add_samples(&f);
	f.files.streams.at[0].attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	f.files.streams.at[0].attr.branch_sample_type =
		PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	open_mine(&f);
	assert_false(f.files.streams.at[0].attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, 0);
	perf_files_disable_all(&f.files);
	perf_fixture_drain(&f, &seen);
	assert_true(seen.n > 0);
	perf_fixture_fini(&f);
}

static void nothing_is_sampled_while_it_is_not_enabled(void **state)
{
	struct perf_fixture_seen seen = { 0 };
	struct perf_fixture f;

	(void)state;
	perf_fixture_init(&f, SCOPE_THREADS);
	f.settings.starts_paused = true;
	perf_fixture_add_samples(&f);
	open_mine(&f);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, 0);
	perf_fixture_drain(&f, &seen);
	assert_int_equal(seen.n, 0);
	perf_files_enable(&f.files, true);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, 0);
	perf_files_enable(&f.files, false);
	perf_fixture_drain(&f, &seen);
	assert_true(seen.n >= 10);
	seen.n = 0;
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, 0);
	perf_fixture_drain(&f, &seen);
	assert_int_equal(seen.n, 0);
	perf_fixture_fini(&f);
}

static void a_ring_beyond_half_is_pressed_until_it_is_drained(void **state)
{
	struct perf_fixture_seen seen = { 0 };
	struct perf_fixture f;

	(void)state;
	perf_fixture_init(&f, SCOPE_THREADS);
	f.files.ring_bytes = 64 << 10;
	perf_fixture_add_samples(&f);
	open_mine(&f);
	assert_false(perf_files_is_pressed(&f.files));
	perf_fixture_pin(f.cpus.ids.at[0]);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS,
			  0); /* a sample takes all that it may copy */
	perf_files_disable_all(&f.files);
	assert_true(perf_files_is_pressed(&f.files));
	perf_fixture_drain(&f, &seen);
	assert_false(perf_files_is_pressed(&f.files));
	perf_fixture_fini(&f);
}

static void *run_thread(void *arg)
{
	struct perf_fixture *f = arg;

	open_mine(f);
	return NULL;
}

static void a_ring_whose_thread_has_ended_is_not_polled(void **state)
{
	struct pollfd fds[PERF_FIXTURE_CPUS];
	struct perf_fixture f;
	pthread_t thread;

	(void)state;
	perf_fixture_init(&f, SCOPE_THREADS);
	perf_fixture_add_samples(&f);
	pthread_create(&thread, NULL, run_thread, &f);
	pthread_join(thread, NULL);
	assert_int_equal(perf_files_poll(&f.files, fds, PERF_FIXTURE_CPUS), f.cpus.ids.n);
	assert_int_equal(perf_files_poll(&f.files, fds, 1), 1);
	for (int i = 0; i < 1000 && perf_files_poll(&f.files, fds, 1); i++) {
		perf_files_check_hang_ups(&f.files);
		usleep(1000); /* the thread is joined a moment before it is gone */
	}
	assert_int_equal(perf_files_poll(&f.files, fds, PERF_FIXTURE_CPUS), 0);
	perf_fixture_fini(&f);
}

static void the_grid_is_opened_on_all_cpus_or_none(void **state)
{
	struct perf_fixture f;
	uint32_t grid;
	size_t n;

	(void)state;
	perf_fixture_init(&f, SCOPE_CPUS);
	perf_fixture_add_samples(&f);
	grid = (uint32_t)f.files.streams.n;
	perf_stream_init(vec_push(&f.files.streams), &perf_stream_grid, &f.plan, false,
			 &f.settings);
	open_mine(&f);
	n = f.files.files.n;
	assert_int_equal(n, f.cpus.ids.n); /* without the grid */
	perf_fixture_break(&f, grid);
	assert_true(perf_files_open_grid(&f.files, NULL) < 0);
	assert_int_equal(f.files.files.n, n);
	perf_fixture_mend(&f, grid);
	assert_int_equal(perf_files_open_grid(&f.files, NULL), 0);
	assert_int_equal(f.files.files.n, 2 * n);
	perf_fixture_fini(&f);
}

static void stacks_are_copied_whole_where_no_deep_ones_can_be_had(void **state)
{
	struct perf_fixture_seen seen = { 0 };
	struct perf_fixture f;

	(void)state;
	perf_fixture_init(&f, SCOPE_THREADS);
	perf_fixture_add_deep(&f, last_cpu(&f) + 1);
	perf_fixture_break(&f, 1);
	open_mine(&f);
	assert_int_equal(perf_files_n_shallow(&f.files), f.cpus.ids.n);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, STACK_BYTES);
	perf_files_disable_all(&f.files);
	perf_fixture_drain(&f, &seen);
	assert_true(seen.n >= 10);
	for (size_t i = 0; i < f.cpus.ids.n; i++)
		if (seen.on[f.cpus.ids.at[i]])
			assert_true(seen.deepest[f.cpus.ids.at[i]] > STACK_BYTES);
	perf_fixture_fini(&f);
}

/* The program's output has room for the first CPU only. */
static void one_cpu_without_deep_stacks_leaves_the_others_theirs(void **state)
{
	struct perf_fixture_seen seen = { 0 };
	struct perf_fixture f;
	uint32_t first, last;

	(void)state;
	perf_fixture_init(&f, SCOPE_THREADS);
	first = f.cpus.ids.at[0];
	last = last_cpu(&f);
	if (first == last)
		skip();
	perf_fixture_add_deep(&f, first + 1);
	open_mine(&f);
	assert_int_equal(perf_files_n_shallow(&f.files), f.cpus.ids.n - 1);
	perf_fixture_drain(&f, &seen); /* some may have come before the program */
	seen = (struct perf_fixture_seen){ 0 };
	perf_fixture_pin(first);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, STACK_BYTES);
	perf_fixture_pin(last);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, STACK_BYTES);
	perf_files_disable_all(&f.files);
	perf_fixture_drain(&f, &seen);
	assert_true(seen.on[first] >= 5 && seen.on[last] >= 5);
	assert_int_equal(seen.written[first], seen.on[first]);
	assert_int_equal(seen.written[last], 0);
	assert_true(seen.deepest[first] > STACK_BYTES);
	assert_true(seen.deepest[last] > STACK_BYTES);
	perf_fixture_fini(&f);
}

static void a_cpu_that_cannot_be_opened_keeps_nothing_and_may_be_tried_again(void **state)
{
	struct perf_fixture_seen seen = { 0 };
	struct perf_fixture f;
	struct perf_cpu *c;

	(void)state;
	perf_fixture_init(&f, SCOPE_CPUS);
	perf_fixture_add_samples(&f);
	perf_fixture_add_samples(&f);
	perf_fixture_break(&f, 1);
	c = &f.files.cpus.at[0];
	for (int i = 0; i < 2; i++) {
		assert_true(perf_files_reopen(&f.files, c->id, true, NULL) < 0);
		assert_int_equal(f.files.files.n, 0);
		assert_int_equal(c->fd, -1);
		assert_null(c->ring.page);
		perf_fixture_drain(&f, &seen);
	}
	perf_fixture_mend(&f, 1);
	assert_int_equal(perf_files_reopen(&f.files, c->id, true, NULL), 0);
	assert_int_equal(f.files.files.n, 2);
	perf_fixture_pin(c->id);
	perf_fixture_work(PERF_FIXTURE_ENOUGH_NS, 0);
	perf_files_disable_all(&f.files);
	perf_fixture_drain(&f, &seen);
	assert_true(seen.n >= 10);
	assert_int_equal(seen.n, seen.on[c->id]);
	perf_fixture_fini(&f);
}

static void a_cpu_that_fails_to_return_keeps_the_ring_that_it_had(void **state)
{
	struct perf_fixture f;
	struct perf_cpu *c;
	int fd;

	(void)state;
	perf_fixture_init(&f, SCOPE_CPUS);
	perf_fixture_add_samples(&f);
	perf_fixture_add_samples(&f);
	assert_int_equal(perf_files_open(&f.files, -1, NULL), 0);
	c = &f.files.cpus.at[0];
	fd = c->fd;
	perf_fixture_break(&f, 1);
	assert_true(perf_files_reopen(&f.files, c->id, true, NULL) < 0);
	assert_int_equal(c->fd, fd);
	assert_non_null(c->ring.page);
	assert_int_equal(f.files.files.n, 2 * f.cpus.ids.n);
	perf_fixture_mend(&f, 1);
	assert_int_equal(perf_files_reopen(&f.files, c->id, true, NULL), 0);
	assert_int_not_equal(c->fd, fd); /* that event ended with the CPU */
	assert_int_equal(f.files.files.at[0].fd, -1);
	assert_int_equal(f.files.files.n, 2 * f.cpus.ids.n + 2);
	perf_fixture_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_keeps_no_branches_is_asked_without),
		cmocka_unit_test(samples_of_all_cpus_come_in_the_order_of_their_time),
		cmocka_unit_test(nothing_is_sampled_while_it_is_not_enabled),
		cmocka_unit_test(a_ring_beyond_half_is_pressed_until_it_is_drained),
		cmocka_unit_test(a_ring_whose_thread_has_ended_is_not_polled),
		cmocka_unit_test(the_grid_is_opened_on_all_cpus_or_none),
		cmocka_unit_test(stacks_are_copied_whole_where_no_deep_ones_can_be_had),
		cmocka_unit_test(one_cpu_without_deep_stacks_leaves_the_others_theirs),
		cmocka_unit_test(
			a_cpu_that_cannot_be_opened_keeps_nothing_and_may_be_tried_again),
		cmocka_unit_test(a_cpu_that_fails_to_return_keeps_the_ring_that_it_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
