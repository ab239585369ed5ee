/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_attach.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/map.h"
#include "collect/facts.h"
#include "collect/perf_blocked.h"
#include "host/procfs.h"

/* In place of rings, which are filled by whatever takes long, and of who learns of
 * processes. */
static unsigned n_filled, n_overflows, n_drained;
static struct map learned, asked; /* pids, tids */

static void fill(void)
{
	n_overflows += n_filled != 0;
	n_filled++;
}

int perf_files_open(struct perf_files *f, pid_t tid, struct err *e)
{
	(void)f;
	(void)tid;
	(void)e;
	fill();
	return 0;
}

bool perf_files_is_pressed(struct perf_files *f)
{
	(void)f;
	return n_filled != 0;
}

void perf_feed_drain(struct perf_feed *f, uint64_t horizon_ns)
{
	(void)f;
	assert_int_equal(horizon_ns, UINT64_MAX);
	n_drained++;
	n_filled = 0;
}

int tracker_snapshot(struct tracker *t, uint64_t time_ns, uint32_t pid, struct err *e)
{
	(void)t;
	(void)time_ns;
	(void)e;
	*map_slot(&learned, pid, NULL) = 1;
	fill();
	return 0;
}

void tracker_expect_descendants(struct tracker *t)
{
	(void)t;
}

struct perf_blocked *perf_blocked_new(struct tracker *t, struct perf_waits *w,
				      bool has_kernel)
{
	(void)t;
	(void)w;
	(void)has_kernel;
	return (struct perf_blocked *)&asked;
}

void perf_blocked_freep(struct perf_blocked **b)
{
	(void)b;
}

void perf_blocked_begin(struct perf_blocked *b, pid_t pid, pid_t tid)
{
	(void)b;
	(void)pid;
	*map_slot(&asked, (uint64_t)tid, NULL) = 1;
	fill();
}

void facts_loss(struct writer *w, const char *name, uint64_t n)
{
	(void)w;
	(void)name;
	(void)n;
}

static int set_up(void **state)
{
	(void)state;
	n_filled = n_overflows = n_drained = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	map_fini(&learned);
	map_fini(&asked);
	learned = asked = (struct map){ 0 };
	return 0;
}

static pid_t make_child(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static pid_t make_ended(void)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void attach(const struct scope *scope)
{
	struct perf_feed feed = { .waits = (struct perf_waits *)&asked };

	assert_int_equal(perf_attach(&feed, scope, false, NULL), 0);
	assert_int_equal(n_overflows, 0);
	assert_true(n_drained > 0);
}

static void rings_are_looked_at_while_a_machine_is_learned_of(void **state)
{
	pid_t child = make_child(), ended = make_ended();

	(void)state;
	attach(&(struct scope){ .kind = SCOPE_CPUS });
	assert_non_null(map_find(&learned, (uint64_t)getpid()));
	assert_non_null(map_find(&learned, (uint64_t)child));
	assert_non_null(map_find(&asked, (uint64_t)child));
	/* What nobody has waited for yet does not run. */
	assert_null(map_find(&learned, (uint64_t)ended));
	end_child(child);
	waitpid(ended, NULL, 0);
}

/* With a child, and one that has ended and nobody waits for. */
static pid_t make_family(pid_t children[2])
{
	int told[2];
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (pid == 0) {
		children[0] = make_child();
		children[1] = make_ended();
		if (write(told[1], children, 2 * sizeof(*children)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(told[0], children, 2 * sizeof(*children)),
			 2 * sizeof(*children));
	close(told[0]);
	close(told[1]);
	return pid;
}

static void so_they_are_while_processes_are(void **state)
{
	pid_t below[2], pid = make_family(below);
	struct scope scope = { .kind = SCOPE_PROCESSES, .pids = &pid, .n_pids = 1 };

	(void)state;
	attach(&scope);
	assert_non_null(map_find(&learned, (uint64_t)pid));
	assert_null(map_find(&learned, (uint64_t)below[0]));
	scope.follow_children = true;
	attach(&scope);
	assert_non_null(map_find(&learned, (uint64_t)below[0]));
	assert_null(map_find(&learned, (uint64_t)below[1]));
	kill(below[0], SIGKILL);
	end_child(pid);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(rings_are_looked_at_while_a_machine_is_learned_of),
		TEST(so_they_are_while_processes_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
