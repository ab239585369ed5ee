/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_interrupt.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/count_late.h"
#include "host/procfs.h"
#include "memory_of_others.h"

/* What the process tells of itself. */
struct told {
	pid_t waits; /* a thread that reads from a pipe */
	int has_returned;
};

static struct told *told;
static int empty[2];

static void *wait_for_byte(void *arg)
{
	char c;

	told->waits = (pid_t)syscall(SYS_gettid);
	told->has_returned = read(empty[0], &c, 1) + 10;
	return arg;
}

/* The first thread waits for its child by vfork, and cannot be interrupted. */
static void run_child(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, wait_for_byte, NULL) != 0)
		_exit(1);
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	_exit(1);
}

static char state_of(pid_t pid, pid_t tid)
{
	struct procfs_stat stat = { 0 };

	return procfs_task_stat(pid, tid, &stat, NULL) == 0 ? stat.state : 0;
}

static pid_t find_child_of(pid_t pid)
{
	own(procfs_ids_fini) struct procfs_ids below = { 0 };

	assert_int_equal(procfs_descendants(pid, &below, NULL), 0);
	assert_int_equal(below.ids.n, 1);
	return below.ids.at[0];
}

static uint64_t n_switches(pid_t tid)
{
	static const char name[] = "\nvoluntary_ctxt_switches:\t";
	char text[PROCFS_STATUS_BYTES];
	const char *at;

	assert_int_equal(procfs_status(tid, text, NULL), 0);
	at = strstr(text, name);
	assert_non_null(at);
	return strtoull(at + sizeof(name) - 1, NULL, 10);
}

/* Others of its process do not stand with it, nor are they waited for. */
static void only_who_waits_leaves_the_kernel_and_waits_on(void **state)
{
	uint64_t before;
	pid_t pid, inner;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(pipe(empty), 0);
	pid = fork();
	if (pid == 0)
		run_child();
	while (state_of(pid, pid) != 'D' || !*(volatile pid_t *)&told->waits ||
	       state_of(pid, told->waits) != 'S')
		usleep(1000);
	inner = find_child_of(pid);
	before = n_switches(told->waits);
	assert_int_equal(inject_interrupt(pid, pid), 0);
	assert_false(count_late_are_any());
	assert_int_equal(n_switches(told->waits), before);
	while (!inject_interrupt(pid, told->waits))
		usleep(1000);
	while (state_of(pid, told->waits) != 'S')
		usleep(1000);
	/* It stood, and waits again. */
	assert_true(n_switches(told->waits) > before);
	assert_int_equal(told->has_returned, 0);
	assert_int_equal(write(empty[1], "x", 1), 1);
	while (!*(volatile int *)&told->has_returned)
		usleep(1000);
	assert_int_equal(told->has_returned, 11);
	count_late_await();
	kill(inner, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(told, sizeof(*told));
	close(empty[0]);
	close(empty[1]);
}

static void who_is_gone_is_not_asked(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(inject_interrupt(pid, pid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_who_waits_leaves_the_kernel_and_waits_on),
		cmocka_unit_test(who_is_gone_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
