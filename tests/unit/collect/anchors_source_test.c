/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/session_pause.h"
#include "store/recording.h"

#define MANY	 1000
#define WORK_NS	 5000000
#define PAUSE_NS 1000000

extern const struct source_ops anchors_source;

struct fixture {
	char path[64];
	struct writer *writer;
	struct tracker *tracker;
	struct scope scope;
	struct plan plan;
	struct source *source;
	pid_t child;
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
	tracker_exec(f->tracker, time_ns, (uint32_t)pid, (uint32_t)pid, "child");
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .plan = { .source = &anchors_source } };
	snprintf(f->path, sizeof(f->path), "/tmp/anchors_source_test.%d.dwell", getpid());
	assert_int_equal(
		writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL),
		0);
	f->tracker = tracker_new(f->writer);
	f->child = begin_child(f, 1);
	f->plan.choice.interval = 1;
	f->scope = (struct scope){ .kind = SCOPE_PROCESSES,
				   .pids = &f->child,
				   .n_pids = 1,
				   .follow_children = true };

	struct source_context context = { .scope = &f->scope,
					  .plans = &f->plan,
					  .n_plans = 1,
					  .tracker = f->tracker,
					  .writer = f->writer };

	assert_int_equal(anchors_source.open(&context, &f->source, NULL), 0);
	assert_int_equal(anchors_source.start(f->source, 0, NULL), 0);
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
	own(recording_freep) struct recording *r = NULL;
	struct source_stats stats;

	anchors_source.stop(f->source);
	assert_int_equal(anchors_source.drain(f->source, true, NULL), 0);
	anchors_source.finish(f->source, &stats);
	anchors_source.free(f->source);
	assert_int_equal(tracker_finish(f->tracker, true, NULL), 0);
	tracker_free(f->tracker);
	assert_int_equal(writer_close(f->writer, NULL), 0);
	assert_int_equal(recording_open(f->path, &r, NULL), 0);
	unlink(f->path);
	assert_int_equal(recording_each_anchor(r, take_anchor, f, NULL), 0);
}

/* It is woken up, and looks; false: what wakes it up does so at once again. */
static bool wait_and_drain(struct fixture *f)
{
	struct pollfd fd;

	assert_int_equal(anchors_source.fds(f->source, &fd, 1), 1);
	assert_int_equal(poll(&fd, 1, -1), 1);
	assert_int_equal(anchors_source.drain(f->source, false, NULL), 0);
	return poll(&fd, 1, 0) == 0;
}

static uint64_t cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_for_work(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t from_ns = cpu_ns(pid);

	while (cpu_ns(pid) < from_ns + WORK_NS)
		nanosleep(&pause, NULL);
}

/* Beside a machine's other work it may be late for the next time, but not always. */
static void it_rests_when_all_have_ended(void **state)
{
	struct fixture f;
	bool rests = false;

	(void)state;
	begin(&f);
	end_child(f.child);
	for (unsigned i = 0; i < 2; i++)
		wait_and_drain(&f);
	for (unsigned i = 0; i < MANY && !rests; i++)
		rests = wait_and_drain(&f);
	assert_true(rests);
	finish(&f);
}

static void who_is_begun_when_all_have_ended_is_looked_at(void **state)
{
	struct fixture f;
	pid_t second;

	(void)state;
	begin(&f);
	end_child(f.child);
	for (unsigned i = 0; i < 2; i++)
		wait_and_drain(&f);
	second = begin_child(&f, 2);
	wait_for_work(second);
	finish(&f);
	end_child(second);
	assert_true(f.told_ns[1] >= WORK_NS);
}

/* What it executes from then on, it is told of afterwards. */
static void what_is_done_in_a_pause_is_not_told(void **state)
{
	struct fixture f;
	uint64_t from_ns, paused_ns;

	(void)state;
	begin(&f);
	wait_for_work(f.child);
	session_pause_tell(&f.source, 1, true);
	from_ns = cpu_ns(f.child);
	wait_for_work(f.child);
	tracker_exec(f.tracker, 2, (uint32_t)f.child, (uint32_t)f.child, "other");
	paused_ns = cpu_ns(f.child) - from_ns;
	session_pause_tell(&f.source, 1, false);
	wait_for_work(f.child);
	finish(&f);
	assert_true(f.told_ns[0] >= WORK_NS && f.told_ns[1] >= WORK_NS);
	assert_true(f.told_ns[0] + f.told_ns[1] + paused_ns <= cpu_ns(f.child));
	end_child(f.child);
}

static void who_is_begun_in_a_pause_has_done_nothing_before_it_ends(void **state)
{
	struct fixture f;
	uint64_t paused_ns;
	pid_t second;

	(void)state;
	begin(&f);
	session_pause_tell(&f.source, 1, true);
	second = begin_child(&f, 2);
	wait_for_work(second);
	paused_ns = cpu_ns(second);
	session_pause_tell(&f.source, 1, false);
	wait_for_work(second);
	finish(&f);
	assert_true(f.told_ns[1] >= WORK_NS);
	assert_true(f.told_ns[1] + paused_ns <= cpu_ns(second));
	end_child(second);
	end_child(f.child);
}

static void what_ends_in_a_pause_tells_nothing_of_it(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	session_pause_tell(&f.source, 1, true);
	wait_for_work(f.child);
	finish(&f);
	assert_true(f.told_ns[0] + WORK_NS <= cpu_ns(f.child));
	end_child(f.child);
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
