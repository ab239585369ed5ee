/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_late.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/count_tracee.h"

#define TRIES	30000
#define NAP_NS	1000000
#define EXIT_OF 7

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

struct child {
	pid_t pid;
	int order, answer;
};

/* Until it is told to: in vfork(), which nothing but a death interrupts. */
static void wait_in_kernel(int order)
{
	char byte;
	pid_t pid = vfork();

	if (pid == 0) {
		_exit(read(order, &byte, 1) != 1);
	}
	waitpid(pid, NULL, 0);
}

static void begin(struct child *c)
{
	int orders[2], answers[2];
	char byte = 'a';

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (!c->pid) {
		close(orders[1]);
		if (write(answers[1], &byte, 1) == 1)
			wait_in_kernel(orders[0]);
		_exit(write(answers[1], &byte, 1) == 1 ? EXIT_OF : 1);
	}
	c->order = orders[1];
	c->answer = answers[0];
	close(orders[0]);
	close(answers[1]);
	assert_int_equal(read(c->answer, &byte, 1), 1);
}

static void who_stops_late_goes_on(void **state)
{
	struct child c;
	struct err e;
	char byte = 'b';
	int status = 0;

	(void)state;
	begin(&c);
	/* It may not be there yet the first time; and the second one is told at once. */
	for (int i = 0; i < 3; i++) {
		struct count_tracees t = { .pid = c.pid };

		if (count_tracees_stop(&t, &e) == 0)
			i--;
		count_tracees_fini(&t);
		nap();
	}
	assert_non_null(strstr(e.text, "does not stop"));
	assert_int_equal(count_late_find(c.pid), c.pid);
	assert_int_equal(count_late_find(getpid()), 0);
	count_late_let_go();
	assert_int_equal(count_late_find(c.pid), c.pid);
	assert_int_equal(write(c.order, &byte, 1), 1);
	for (int i = 0; i < TRIES && count_late_find(c.pid); i++) {
		nap();
		count_late_let_go();
	}
	assert_int_equal(count_late_find(c.pid), 0);
	assert_int_equal(read(c.answer, &byte, 1), 1);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_int_equal(status, EXIT_OF << 8);
	close(c.order);
	close(c.answer);
}

static void who_ends_late_is_forgotten(void **state)
{
	struct child c;
	int status = 0;

	(void)state;
	begin(&c);
	while (!count_late_find(c.pid)) {
		struct count_tracees t = { .pid = c.pid };

		if (count_tracees_stop(&t, NULL) == 0)
			nap();
		count_tracees_fini(&t);
	}
	kill(c.pid, SIGKILL);
	for (int i = 0; i < TRIES && count_late_find(c.pid); i++) {
		nap();
		count_late_let_go();
	}
	assert_int_equal(count_late_find(c.pid), 0);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	close(c.order);
	close(c.answer);
}

struct asking {
	pid_t pid;
	struct err e;
};

/* A thread of ours that ends when it has told it to stop. */
static void *tell_to_stop(void *arg)
{
	struct asking *a = arg;
	struct count_tracees t = { .pid = a->pid, .limit_ns = 1 };

	if (count_tracees_stop(&t, &a->e) == 0)
		a->e.code = 0;
	count_tracees_fini(&t);
	count_late_forget();
	return NULL;
}

static int tell_to_stop_by_another(pid_t pid)
{
	struct asking a = { .pid = pid };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, tell_to_stop, &a), 0);
	pthread_join(thread, NULL);
	return a.e.code;
}

static void who_is_late_for_another_thread_is_to_be_tried_again(void **state)
{
	struct child c;
	int status;

	(void)state;
	begin(&c);
	/* The kernel takes back what they were told when they are joined already. */
	for (int i = 0; i < 8; i++)
		assert_int_not_equal(tell_to_stop_by_another(c.pid), ERR_OS);
	while (!count_late_find(c.pid)) {
		struct count_tracees t = { .pid = c.pid, .limit_ns = 1 };

		if (count_tracees_stop(&t, NULL) == 0)
			nap();
		count_tracees_fini(&t);
	}
	assert_true(count_late_are_any());
	assert_int_equal(tell_to_stop_by_another(c.pid), ERR_LIMIT);
	kill(c.pid, SIGKILL);
	while (count_late_are_any()) {
		nap();
		count_late_let_go();
	}
	waitpid(c.pid, &status, 0);
	close(c.order);
	close(c.answer);
}

static long n_naps(void)
{
	struct rusage own;

	assert_int_equal(getrusage(RUSAGE_SELF, &own), 0);
	return own.ru_nvcsw;
}

/* Two seconds and a bit. */
static void who_does_not_stop_is_not_asked_all_the_time(void **state)
{
	struct child c;
	long n = 0;

	(void)state;
	begin(&c);
	while (!count_late_find(c.pid)) {
		struct count_tracees t = { .pid = c.pid };

		n = n_naps();
		if (count_tracees_stop(&t, NULL) == 0)
			nap();
		count_tracees_fini(&t);
	}
	n = n_naps() - n;
	assert_in_range(n, 0, 1000);
	kill(c.pid, SIGKILL);
	while (count_late_find(c.pid)) {
		nap();
		count_late_let_go();
	}
	waitpid(c.pid, NULL, 0);
	close(c.order);
	close(c.answer);
}

static void how_a_child_ends_is_left_to_who_launched_it(void **state)
{
	struct count_tracees t = { 0 };
	int status = 0, signal = 0;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		for (;;)
			pause();
	t.pid = pid;
	assert_int_equal(count_tracees_stop(&t, NULL), 0);
	assert_int_equal(t.at.n, 1);
	kill(pid, SIGKILL);
	for (int i = 0; i < TRIES && !t.at.at[0].is_gone; i++) {
		count_tracee_poll(&t.at.at[0], &signal);
		nap();
	}
	assert_true(t.at.at[0].is_gone);
	count_tracees_fini(&t);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* It has this CPU as long as we do not. */
static void who_only_waits_for_a_cpu_is_told_apart_and_tried_again(void **state)
{
	struct err e = { 0 };
	cpu_set_t before, one;
	pid_t pid;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	pid = fork();
	if (!pid)
		for (;;)
			;
	nap(); /* it is there, and executes that */
	for (int i = 0; i < TRIES && e.code != ERR_LIMIT; i++) {
		struct count_tracees t = { .pid = pid, .limit_ns = 1 };

		if (count_tracees_stop(&t, &e) == 0)
			e.code = 0;
		count_tracees_fini(&t);
	}
	assert_int_equal(e.code, ERR_LIMIT);
	assert_non_null(strstr(e.text, "waiting for a CPU"));
	for (int i = 0; i < TRIES && e.code; i++) {
		struct count_tracees t = { .pid = pid };

		e.code = count_tracees_stop(&t, &e);
		count_tracees_fini(&t);
	}
	assert_int_equal(e.code, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sched_setaffinity(0, sizeof(before), &before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_stops_late_goes_on),
		cmocka_unit_test(who_ends_late_is_forgotten),
		cmocka_unit_test(who_is_late_for_another_thread_is_to_be_tried_again),
		cmocka_unit_test(who_does_not_stop_is_not_asked_all_the_time),
		cmocka_unit_test(who_only_waits_for_a_cpu_is_told_apart_and_tried_again),
		cmocka_unit_test(how_a_child_ends_is_left_to_who_launched_it),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
