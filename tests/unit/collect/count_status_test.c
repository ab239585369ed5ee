/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_status.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/newcomers.h"

#define ORDINARY                                                                         \
	"Name:\tsleep\nUmask:\t0022\nState:\tS "                                         \
	"(sleeping)\nTgid:\t7\nNgid:\t0\nPid:\t7\n"                                      \
	"PPid:\t1\nTracerPid:\t0\nUid:\t1000\t1001\t1000\t1000\n"                        \
	"Gid:\t100\t101\t100\t100\nNSpid:\t7\nSeccomp:\t0\nSeccomp_filters:\t0\n"        \
	"x86_Thread_features:\t\n"

/* With one line in place of another. */
static int parse_with(const char *line, const char *other, struct err *e)
{
	const char *at = strstr(ORDINARY, line);
	struct count_status s;
	char text[sizeof(ORDINARY) + 64];

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - ORDINARY), ORDINARY, other,
		 at + strlen(line));
	return count_status_parse(text, &s, e);
}

static void an_ordinary_process_can_be_counted(void **state)
{
	struct count_status s;

	(void)state;
	assert_int_equal(count_status_parse(ORDINARY, &s, NULL), 0);
	assert_int_equal(s.uid, 1001);
	assert_int_equal(s.gid, 101);
}

static void others_are_refused_in_words(void **state)
{
	static const struct {
		const char *line, *other, *why;
	} cases[] = {
		{ "TracerPid:\t0", "TracerPid:\t42", "process 42 traces it" },
		{ "S (sleeping)", "T (stopped)", "stopped" },
		{ "S (sleeping)", "Z (zombie)", "has ended" },
		{ "Seccomp:\t0", "Seccomp:\t1", "seccomp" },
		{ "x86_Thread_features:\t", "x86_Thread_features:\tshstk ", "shadow" },
		{ "State:", "Status:", "state" },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(parse_with(cases[i].line, cases[i].other, &e) < 0);
		assert_non_null(strstr(e.text, cases[i].why));
	}
}

static void nothing_is_known_of_what_is_no_text(void **state)
{
	struct count_status s;

	(void)state;
	assert_true(count_status_parse("", &s, NULL) < 0);
	assert_true(count_status_parse("State", &s, NULL) < 0);
	assert_true(count_status_parse("\n\n:\n", &s, NULL) < 0);
}

static void a_process_of_ours_can_be_asked(void **state)
{
	struct newcomers alone = { 0 };
	struct count_status s;
	struct err e;

	(void)state;
	assert_true(count_status_check(0x7fffffff, &s, &e) < 0);
	assert_int_equal(count_status_check_sharing(getpid(), &alone, NULL), 0);
	assert_true(alone.ns > 0);
}

static int wait_for_end(void *stack)
{
	(void)stack;
	for (;;)
		pause();
	return 0;
}

static void *be_a_thread(void *arg)
{
	pause();
	return arg;
}

/* Looked for among all, and among those that have begun since. */
static void who_shares_memory_is_found_also_when_it_begins_later(void **state)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	struct newcomers none = { 0 }, alone = { 0 };
	struct err e;
	pid_t pid;

	(void)state;
	assert_int_equal(count_status_check_sharing(getpid(), &alone, NULL), 0);
	pid = clone(wait_for_end, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	if (pid < 0 && errno == EINVAL) /* emulators know threads only */
		skip();
	assert_true(pid > 0);
	assert_true(count_status_check_sharing(getpid(), &alone, &e) < 0);
	assert_non_null(strstr(e.text, "shares memory with process"));
	assert_true(count_status_check_sharing(getpid(), &none, &e) < 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(count_status_check_sharing(getpid(), &alone, NULL), 0);
}

static void threads_of_its_own_are_no_others(void **state)
{
	struct newcomers alone = { 0 };
	pthread_t thread;

	(void)state;
	assert_int_equal(count_status_check_sharing(getpid(), &alone, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, be_a_thread, NULL), 0);
	assert_int_equal(count_status_check_sharing(getpid(), &alone, NULL), 0);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ordinary_process_can_be_counted),
		cmocka_unit_test(others_are_refused_in_words),
		cmocka_unit_test(nothing_is_known_of_what_is_no_text),
		cmocka_unit_test(a_process_of_ours_can_be_asked),
		cmocka_unit_test(who_shares_memory_is_found_also_when_it_begins_later),
		cmocka_unit_test(threads_of_its_own_are_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
