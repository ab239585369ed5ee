/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_tails.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TID = 100, OTHER, EVENT = 3, OTHER_EVENT };

struct fixture {
	struct perf_tails *tails;
	uint64_t stacks; /* bit of each stack that became a sample */
	unsigned n;
};

static void note(void *ctx, const struct perf_tail *tail)
{
	struct fixture *f = ctx;

	f->stacks |= UINT64_C(1) << tail->draft.sample.stack;
	f->n++;
}

static void add(struct fixture *f, uint32_t tid, uint32_t cpu, uint32_t stack,
		bool is_coarse)
{
	struct perf_tail tail = { .is_coarse = is_coarse };

	tail.draft.sample.event = EVENT;
	tail.draft.sample.cpu = cpu;
	tail.draft.sample.stack = stack;
	perf_tails_add(f->tails, tid, &tail);
}

static void a_thread_without_own_samples_has_all_of_the_grid(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	add(&f, TID, 0, 1, false);
	add(&f, TID, 1, 2, true);
	assert_int_equal(f.n, 0);
	assert_true(perf_tails_is_unsampled(f.tails, TID, EVENT));
	assert_true(perf_tails_exit(f.tails, TID));
	assert_int_equal(f.stacks, 1 << 1 | 1 << 2);
	perf_tails_free(f.tails);
}

static void an_own_sample_ends_what_that_cpus_clock_would_have_told(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	add(&f, TID, 0, 1, false);
	add(&f, TID, 1, 2, false);
	add(&f, OTHER, 0, 3, false);
	perf_tails_own(f.tails, TID, EVENT, 0);
	add(&f, TID, 0, 4, false);
	assert_false(perf_tails_is_unsampled(f.tails, TID, EVENT));
	perf_tails_exit(f.tails, TID);
	assert_int_equal(f.stacks, 1 << 2 | 1 << 4);
	perf_tails_finish(f.tails);
	assert_int_equal(f.stacks, 1 << 2 | 1 << 3 | 1 << 4);
	perf_tails_free(f.tails);
}

static void any_own_sample_ends_a_coarse_grid(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	add(&f, TID, 1, 1, true);
	perf_tails_own(f.tails, TID, EVENT, 0);
	assert_true(perf_tails_exit(f.tails, TID));
	assert_int_equal(f.n, 0);
	perf_tails_free(f.tails);
}

static void experiments_have_clocks_of_their_own(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	add(&f, TID, 0, 1, false);
	perf_tails_own(f.tails, TID, OTHER_EVENT, 0);
	assert_true(perf_tails_is_unsampled(f.tails, TID, EVENT));
	perf_tails_exit(f.tails, TID);
	assert_int_equal(f.stacks, 1 << 1);
	perf_tails_free(f.tails);
}

static void work_after_the_clocks_end_is_sampled_at_once(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	perf_tails_own(f.tails, TID, EVENT, 0);
	perf_tails_exit(f.tails, TID);
	add(&f, TID, 0, 1, false);
	assert_int_equal(f.stacks, 1 << 1);
	perf_tails_finish(f.tails);
	assert_int_equal(f.n, 1);
	perf_tails_free(f.tails);
}

static void a_thread_id_that_is_used_again_begins_anew(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	perf_tails_own(f.tails, TID, EVENT, 0);
	add(&f, TID, 0, 1, false);
	perf_tails_fork(f.tails, TID); /* its end got lost */
	assert_int_equal(f.stacks, 1 << 1);
	assert_true(perf_tails_is_unsampled(f.tails, TID, EVENT));
	perf_tails_exit(f.tails, TID);
	perf_tails_fork(f.tails, TID);
	add(&f, TID, 0, 2, false);
	assert_int_equal(f.n, 1);
	perf_tails_free(f.tails);
}

static void a_thread_that_was_never_met_is_told(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	assert_false(perf_tails_exit(f.tails, TID));
	perf_tails_own(f.tails, OTHER, EVENT, 0);
	assert_true(perf_tails_exit(f.tails, OTHER));
	perf_tails_free(f.tails);
}

/* Else each of its own samples would stand beside one of the grid's. */
static void a_thread_that_execs_in_place_of_its_leader_lives(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	perf_tails_own(f.tails, TID, EVENT, 0);
	perf_tails_exit(f.tails, TID);
	perf_tails_exec(f.tails, TID);
	add(&f, TID, 0, 1, false);
	assert_int_equal(f.n, 0);
	perf_tails_own(f.tails, TID, EVENT, 0);
	perf_tails_finish(f.tails);
	assert_int_equal(f.n, 0);
	perf_tails_free(f.tails);
}

static void a_leader_that_execs_keeps_what_is_open(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	add(&f, TID, 0, 1, false);
	perf_tails_exec(f.tails, TID);
	assert_int_equal(f.n, 0);
	perf_tails_exit(f.tails, TID);
	assert_int_equal(f.stacks, 1 << 1);
	perf_tails_free(f.tails);
}

/* A clock that never gets far enough, and threads that never end, must not fill memory;
 * nothing gets lost by it. */
static void what_is_kept_is_bounded(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	f.tails = perf_tails_new(note, &f);
	for (unsigned i = 0; i < 10000; i++)
		add(&f, TID, 0, 1, false);
	assert_in_range(f.n, 9000, 10000);
	for (uint32_t tid = 1000; tid < 11000; tid++) {
		add(&f, tid, 0, 2, false);
		perf_tails_exit(f.tails, tid);
	}
	perf_tails_finish(f.tails);
	assert_int_equal(f.n, 20000);
	perf_tails_free(f.tails);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_without_own_samples_has_all_of_the_grid),
		cmocka_unit_test(an_own_sample_ends_what_that_cpus_clock_would_have_told),
		cmocka_unit_test(any_own_sample_ends_a_coarse_grid),
		cmocka_unit_test(experiments_have_clocks_of_their_own),
		cmocka_unit_test(work_after_the_clocks_end_is_sampled_at_once),
		cmocka_unit_test(a_thread_id_that_is_used_again_begins_anew),
		cmocka_unit_test(a_thread_that_was_never_met_is_told),
		cmocka_unit_test(a_thread_that_execs_in_place_of_its_leader_lives),
		cmocka_unit_test(a_leader_that_execs_keeps_what_is_open),
		cmocka_unit_test(what_is_kept_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
