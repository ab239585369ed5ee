/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "anchors_fixture.h"
#include "collect/session_pause.h"
#include "store/recording.h"

#define MANY 1000

struct fixture {
	struct anchors_fixture on;
	uint64_t told_ns[2]; /* of each process of the recording */
};

/* One that works until it is killed. */
static pid_t begin_child(struct fixture *f, uint64_t time_ns)
{
	pid_t pid = fork();

	while (!pid)
		if (getppid() == 1)
			_exit(1);
	assert_true(pid > 0);
	tracker_exec(f->on.tracker, time_ns, (uint32_t)pid, (uint32_t)pid, "child");
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	anchors_fixture_begin(&f->on, "anchors_source_test");
	anchors_fixture_observe(&f->on, begin_child(f, 1), 1);
}

static int take_anchor(void *ctx, const struct model_anchor *x, struct err *e)
{
	struct fixture *f = ctx;

	(void)e;
	assert_true(x->process < 2);
	if (x->location == MODEL_NONE)
		f->told_ns[x->process] += x->cpu_ns;
	return 0;
}

static void finish(struct fixture *f)
{
	struct source_stats stats;
	own(recording_freep) struct recording *r = anchors_fixture_finish(&f->on, &stats);

	assert_int_equal(recording_each_anchor(r, take_anchor, f, NULL), 0);
}

/* Beside a machine's other work it may be late for the next time, but not always. */
static void it_rests_when_all_have_ended(void **state)
{
	struct fixture f;
	bool rests = false;

	(void)state;
	begin(&f);
	end_child(f.on.child);
	for (unsigned i = 0; i < 2; i++)
		anchors_fixture_drain(&f.on);
	for (unsigned i = 0; i < MANY && !rests; i++)
		rests = anchors_fixture_drain(&f.on);
	assert_true(rests);
	finish(&f);
}

static void who_is_begun_when_all_have_ended_is_looked_at(void **state)
{
	struct fixture f;
	pid_t second;

	(void)state;
	begin(&f);
	end_child(f.on.child);
	for (unsigned i = 0; i < 2; i++)
		anchors_fixture_drain(&f.on);
	second = begin_child(&f, 2);
	anchors_fixture_wait_for_work(second);
	finish(&f);
	end_child(second);
	assert_true(f.told_ns[1] >= ANCHORS_FIXTURE_WORK_NS);
}

/* What it executes from then on, it is told of afterwards. */
static void what_is_done_in_a_pause_is_not_told(void **state)
{
	struct fixture f;
	uint64_t from_ns, paused_ns;

	(void)state;
	begin(&f);
	anchors_fixture_wait_for_work(f.on.child);
	session_pause_tell(&f.on.source, 1, true);
	from_ns = anchors_fixture_cpu_ns(f.on.child);
	anchors_fixture_wait_for_work(f.on.child);
	tracker_exec(f.on.tracker, 2, (uint32_t)f.on.child, (uint32_t)f.on.child,
		     "other");
	paused_ns = anchors_fixture_cpu_ns(f.on.child) - from_ns;
	session_pause_tell(&f.on.source, 1, false);
	anchors_fixture_wait_for_work(f.on.child);
	finish(&f);
	assert_true(f.told_ns[0] >= ANCHORS_FIXTURE_WORK_NS &&
		    f.told_ns[1] >= ANCHORS_FIXTURE_WORK_NS);
	assert_true(f.told_ns[0] + f.told_ns[1] + paused_ns <=
		    anchors_fixture_cpu_ns(f.on.child));
	end_child(f.on.child);
}

static void who_is_begun_in_a_pause_has_done_nothing_before_it_ends(void **state)
{
	struct fixture f;
	uint64_t paused_ns;
	pid_t second;

	(void)state;
	begin(&f);
	session_pause_tell(&f.on.source, 1, true);
	second = begin_child(&f, 2);
	anchors_fixture_wait_for_work(second);
	paused_ns = anchors_fixture_cpu_ns(second);
	session_pause_tell(&f.on.source, 1, false);
	anchors_fixture_wait_for_work(second);
	finish(&f);
	assert_true(f.told_ns[1] >= ANCHORS_FIXTURE_WORK_NS);
	assert_true(f.told_ns[1] + paused_ns <= anchors_fixture_cpu_ns(second));
	end_child(second);
	end_child(f.on.child);
}

static void what_ends_in_a_pause_tells_nothing_of_it(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	session_pause_tell(&f.on.source, 1, true);
	anchors_fixture_wait_for_work(f.on.child);
	finish(&f);
	assert_true(f.told_ns[0] + ANCHORS_FIXTURE_WORK_NS <=
		    anchors_fixture_cpu_ns(f.on.child));
	end_child(f.on.child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_rests_when_all_have_ended),
		cmocka_unit_test(who_is_begun_when_all_have_ended_is_looked_at),
		cmocka_unit_test(what_is_done_in_a_pause_is_not_told),
		cmocka_unit_test(who_is_begun_in_a_pause_has_done_nothing_before_it_ends),
		cmocka_unit_test(what_ends_in_a_pause_tells_nothing_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
