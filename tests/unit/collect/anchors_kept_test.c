/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows that cannot be ended when they are to be. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "anchors_fixture.h"
#include "base/buf.h"
#include "collect/session_pause.h"
#include "host/procfs.h"
#include "store/recording.h"

#define MANY	 1000
#define OFTEN	 50 /* per cent */
#define LONGER	 20 /* than before its first window */
#define MAPS_MAX (16 << 20)
#define TRIES	 20000 /* of a millisecond */
/* Of CPU time, in which what is to happen does. */
#define PATIENCE_NS 2000000000u
#define OTHER	    "other" /* the program's argument, if it is another one */

/* What the program and the test have in common. */
struct shared {
	uint64_t turns;
	bool is_to_fork, is_to_execute;
	pid_t forked; /* 0: nobody */
};

struct fixture {
	struct anchors_fixture on; /* its child is 0 once it has ended */
	struct shared *shared;
	/* From when the window was to end: CPU time until what, and the turns. */
	uint64_t from_ns, kept_ns, n_turns;
	uint64_t all_ns;	      /* CPU time of one that has ended */
	uint64_t told_ns, most_times; /* of native time; of a block */
	uint64_t counted_ns;
	bool is_counted[2]; /* each process of the recording */
	bool is_in_trouble, is_refused;
};

/* Of a process that the engine counts no thread can be seized for now; of any, if that
 * is 0.  How often one was to be, and could. */
static bool is_hindered;
static pid_t hindered;
static unsigned n_refused, n_seized;

static bool is_counted(pid_t pid)
{
	own(buf_fini) struct buf maps = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return procfs_read(path, MAPS_MAX, &maps, NULL) == 0 &&
	       strstr(buf_str(&maps), "/of.");
}

long ptrace(enum __ptrace_request request, ...)
{
	va_list args;
	pid_t tid;
	void *addr, *data;

	va_start(args, request);
	tid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (is_hindered && request == PTRACE_SEIZE && (!hindered || tid == hindered) &&
	    is_counted(tid)) {
		n_refused++;
		errno = EPERM;
		return -1;
	}
	n_seized += request == PTRACE_SEIZE;
	return syscall(SYS_ptrace, request, tid, addr, data);
}

/* Until its parent ends, at the latest. */
static _Noreturn void work(pid_t parent)
{
	while (getppid() == parent)
		for (volatile unsigned i = 0; i < MANY; i++)
			;
	_exit(1);
}

static void fork_one(struct shared *s)
{
	pid_t parent = getpid(), pid = fork();

	if (!pid)
		work(parent);
	__atomic_store_n(&s->forked, pid, __ATOMIC_RELEASE);
}

static void run_child(struct shared *s, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		for (unsigned i = 0; i < MANY; i++)
			__atomic_store_n(&s->turns, s->turns + 1, __ATOMIC_RELAXED);
		if (__atomic_exchange_n(&s->is_to_fork, false, __ATOMIC_ACQUIRE))
			fork_one(s);
		if (__atomic_load_n(&s->is_to_execute, __ATOMIC_ACQUIRE))
			execl("/proc/self/exe", "child", OTHER, NULL);
	}
	_exit(1);
}

static void begin(struct fixture *f)
{
	pid_t parent = getpid(), child;

	*f = (struct fixture){ 0 };
	f->shared = mmap(NULL, sizeof(*f->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(f->shared, MAP_FAILED);
	anchors_fixture_begin(&f->on, "anchors_kept_test");
	child = fork();
	assert_true(child >= 0);
	if (!child)
		run_child(f->shared, parent);
	tracker_exec(f->on.tracker, 1, (uint32_t)child, (uint32_t)child, "child");
	anchors_fixture_observe(&f->on, child, OFTEN);
}

static uint64_t turns_of(const struct fixture *f)
{
	return __atomic_load_n(&f->shared->turns, __ATOMIC_RELAXED);
}

static void note_kept(struct fixture *f, uint64_t from)
{
	f->n_turns = turns_of(f) - from;
	f->kept_ns = anchors_fixture_cpu_ns(f->on.child) - f->from_ns;
}

/* Until somebody could not be seized so often. */
static void drain_until_refused(const struct fixture *f, unsigned n)
{
	uint64_t from_ns = anchors_fixture_cpu_ns(f->on.child);

	while (n_refused < n &&
	       anchors_fixture_cpu_ns(f->on.child) - from_ns < PATIENCE_NS)
		anchors_fixture_drain(&f->on);
	assert_true(n_refused >= n);
}

/* It was tried twice to end it. */
static void begin_kept(struct fixture *f)
{
	uint64_t from;

	begin(f);
	is_hindered = true;
	hindered = f->on.child;
	n_refused = 0;
	drain_until_refused(f, 1);
	from = turns_of(f);
	f->from_ns = anchors_fixture_cpu_ns(f->on.child);
	/* What else there is goes on. */
	assert_false(f->on.source->wants_alone);
	anchors_fixture_wait_for_work(f->on.child);
	drain_until_refused(f, 2);
	note_kept(f, from);
	assert_true(f->n_turns);
}

static int take_anchor(void *ctx, const struct model_anchor *x, struct err *e)
{
	struct fixture *f = ctx;

	(void)e;
	assert_true(x->process < 2);
	if (x->location == MODEL_NONE && !x->process)
		f->told_ns += x->cpu_ns;
	if (x->size_bytes) {
		f->is_counted[x->process] = true;
		f->counted_ns += x->process ? 0 : x->cpu_ns;
	}
	if (x->size_bytes && !x->process && x->times > f->most_times)
		f->most_times = x->times;
	return 0;
}

/* Its time until it is taken notice of is all that there is. */
static void end_child(struct fixture *f)
{
	siginfo_t info;

	kill(f->on.child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)f->on.child, &info, WEXITED | WNOWAIT), 0);
	f->all_ns = anchors_fixture_cpu_ns(f->on.child);
	assert_int_equal(waitpid(f->on.child, NULL, 0), f->on.child);
	f->on.child = 0;
}

static void finish(struct fixture *f)
{
	struct source_stats stats;
	own(recording_freep) struct recording *r = anchors_fixture_finish(&f->on, &stats);

	f->is_in_trouble = stats.trouble.code;
	f->is_refused = recording_info(r, "anchors-refused");
	assert_int_equal(recording_each_anchor(r, take_anchor, f, NULL), 0);
	/* All of it was in translation. */
	assert_true(f->told_ns + f->kept_ns <=
		    (f->on.child ? anchors_fixture_cpu_ns(f->on.child) : f->all_ns));
	if (f->on.child)
		end_child(f);
	is_hindered = false;
	munmap(f->shared, sizeof(*f->shared));
}

static void it_has_all_that_is_counted_until_it_ends(void **state)
{
	struct fixture f;

	(void)state;
	begin_kept(&f);
	is_hindered = false;
	finish(&f);
	assert_true(f.most_times >= f.n_turns);
	assert_false(f.is_in_trouble);
}

/* What is counted on has not been all yet. */
static void of_one_that_does_not_end_nothing_is_told(void **state)
{
	struct fixture f;

	(void)state;
	begin_kept(&f);
	finish(&f);
	assert_int_equal(f.most_times, 0);
	assert_true(f.is_in_trouble);
}

/* Neither what comes before a pause nor what comes behind it is native time. */
static void it_may_end_behind_a_pause(void **state)
{
	struct fixture f;

	(void)state;
	begin_kept(&f);
	session_pause_tell(&f.on.source, 1, true);
	anchors_fixture_wait_for_work(f.on.child);
	session_pause_tell(&f.on.source, 1, false);
	anchors_fixture_wait_for_work(f.on.child);
	f.kept_ns = anchors_fixture_cpu_ns(f.on.child) - f.from_ns;
	is_hindered = false;
	finish(&f);
	assert_true(f.most_times >= f.n_turns);
	assert_false(f.is_in_trouble);
}

/* And native time between them. */
static void windows_come_behind_it(void **state)
{
	struct fixture f;
	uint64_t least_ns, ns;
	unsigned n = 0;

	(void)state;
	begin_kept(&f);
	is_hindered = false;
	least_ns = f.from_ns * LONGER + f.kept_ns;
	while ((ns = anchors_fixture_cpu_ns(f.on.child)) < least_ns ||
	       (n < 2 && ns < least_ns + PATIENCE_NS)) {
		bool was_alone = f.on.source->wants_alone;

		anchors_fixture_drain(&f.on);
		n += f.on.source->wants_alone && !was_alone;
	}
	assert_true(n >= 2);
	finish(&f);
	assert_true(f.told_ns > f.from_ns);
	assert_false(f.is_in_trouble);
}

/* Though nobody could be led out of it. */
static void it_ends_with_its_program(void **state)
{
	struct fixture f;

	(void)state;
	begin_kept(&f);
	end_child(&f);
	anchors_fixture_drain(&f.on);
	finish(&f);
	assert_true(f.most_times >= f.n_turns);
	assert_false(f.is_in_trouble);
}

/* A second one, as the first goes on in translation. */
static void others_have_windows_meanwhile(void **state)
{
	struct fixture f;
	pid_t second, parent = getpid();
	bool is_alone = false;

	(void)state;
	begin_kept(&f);
	second = fork();
	assert_true(second >= 0);
	if (!second)
		work(parent);
	tracker_exec(f.on.tracker, 2, (uint32_t)second, (uint32_t)second, "second");
	while (!(is_alone && !f.on.source->wants_alone) &&
	       anchors_fixture_cpu_ns(second) < PATIENCE_NS) {
		is_alone = f.on.source->wants_alone;
		anchors_fixture_drain(&f.on);
	}
	f.kept_ns = anchors_fixture_cpu_ns(f.on.child) - f.from_ns;
	finish(&f);
	kill(second, SIGKILL);
	assert_int_equal(waitpid(second, NULL, 0), second);
	assert_true(f.is_counted[1]);
	assert_false(f.is_counted[0]);
	assert_false(f.is_refused);
	assert_true(f.is_in_trouble);
}

static pid_t wait_for_fork(struct fixture *f)
{
	const struct timespec pause = { .tv_nsec = ANCHORS_FIXTURE_PAUSE_NS };
	pid_t pid = 0;

	__atomic_store_n(&f->shared->is_to_fork, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; !pid && i < TRIES; i++) {
		nanosleep(&pause, NULL);
		pid = __atomic_load_n(&f->shared->forked, __ATOMIC_ACQUIRE);
	}
	assert_true(pid > 0);
	return pid;
}

static void drain_until_left(const struct fixture *f, pid_t pid)
{
	uint64_t from_ns = anchors_fixture_cpu_ns(pid);

	while (is_counted(pid) && anchors_fixture_cpu_ns(pid) - from_ns < PATIENCE_NS)
		anchors_fixture_drain(&f->on);
	assert_false(is_counted(pid));
}

static void a_child_that_comes_then_is_left_at_once(void **state)
{
	struct fixture f;
	pid_t child;

	(void)state;
	begin_kept(&f);
	child = wait_for_fork(&f);
	assert_true(is_counted(child));
	drain_until_left(&f, child);
	f.kept_ns = anchors_fixture_cpu_ns(f.on.child) - f.from_ns;
	finish(&f);
	assert_true(f.is_in_trouble);
}

/* Of a window that has ended. */
static void a_child_that_could_not_be_left_is_later(void **state)
{
	struct fixture f;
	pid_t child;

	(void)state;
	begin(&f);
	while (!is_counted(f.on.child) &&
	       anchors_fixture_cpu_ns(f.on.child) < PATIENCE_NS)
		anchors_fixture_drain(&f.on);
	child = wait_for_fork(&f);
	hindered = child;
	is_hindered = true;
	n_refused = 0;
	drain_until_refused(&f, 1);
	assert_true(is_counted(child));
	is_hindered = false;
	drain_until_left(&f, child);
	finish(&f);
	assert_true(f.is_counted[0]);
	assert_false(f.is_in_trouble);
}

/* That is not counted, nor is its time the window's. */
static void it_ends_when_another_program_is_executed(void **state)
{
	const struct timespec pause = { .tv_nsec = ANCHORS_FIXTURE_PAUSE_NS };
	struct fixture f;
	uint64_t most_ns;

	(void)state;
	begin_kept(&f);
	__atomic_store_n(&f.shared->is_to_execute, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; is_counted(f.on.child) && i < TRIES; i++)
		nanosleep(&pause, NULL);
	most_ns = anchors_fixture_cpu_ns(f.on.child);
	for (unsigned i = 0; i < LONGER; i++)
		anchors_fixture_wait_for_work(f.on.child);
	anchors_fixture_drain(&f.on);
	is_hindered = false;
	finish(&f);
	assert_true(f.most_times >= f.n_turns);
	assert_in_range(f.counted_ns, 1, most_ns);
	assert_false(f.is_in_trouble);
}

/* Nobody need wait for its end. */
static void it_may_end_in_a_pause(void **state)
{
	struct fixture f;
	struct pollfd fd;

	(void)state;
	begin_kept(&f);
	session_pause_tell(&f.on.source, 1, true);
	is_hindered = false;
	n_seized = 0;
	assert_int_equal(anchors_source.fds(f.on.source, &fd, 1), 1);
	while (!n_seized && poll(&fd, 1, TRIES) == 1)
		assert_int_equal(anchors_source.drain(f.on.source, false, NULL), 0);
	assert_true(n_seized);
	f.kept_ns = anchors_fixture_cpu_ns(f.on.child) - f.from_ns;
	anchors_fixture_wait_for_work(f.on.child);
	f.kept_ns += ANCHORS_FIXTURE_WORK_NS;
	session_pause_tell(&f.on.source, 1, false);
	finish(&f);
	assert_true(f.most_times >= f.n_turns);
	assert_false(f.is_in_trouble);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], OTHER))
		work(getppid());

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_all_that_is_counted_until_it_ends),
		cmocka_unit_test(of_one_that_does_not_end_nothing_is_told),
		cmocka_unit_test(it_may_end_behind_a_pause),
		cmocka_unit_test(windows_come_behind_it),
		cmocka_unit_test(it_ends_with_its_program),
		cmocka_unit_test(others_have_windows_meanwhile),
		cmocka_unit_test(a_child_that_comes_then_is_left_at_once),
		cmocka_unit_test(a_child_that_could_not_be_left_is_later),
		cmocka_unit_test(it_ends_when_another_program_is_executed),
		cmocka_unit_test(it_may_end_in_a_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
