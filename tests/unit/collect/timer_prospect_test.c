/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_prospect.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define TRIES 30000 /* of a millisecond */

static const struct timer_directory meeting = { .path = "/dev/shm/dwell-1-abcdef" };
static char ours[] = "LD_PRELOAD=/dev/shm/dwell-1-abcdef/$PLATFORM/library.so";
static char elsewhere[] = "LD_PRELOAD=/root/in/dwell-1-abcdef/$PLATFORM/library.so";
static char others[] = "LD_PRELOAD=/dev/shm/dwell-2-abcdef/$PLATFORM/library.so";
static char no_preload[] = "DWELL=/dev/shm/dwell-1-abcdef";

static pid_t run_with(char *variable)
{
	static char name[] = "sleep", seconds[] = "100";
	char *words[] = { name, seconds, NULL }, *variables[] = { variable, NULL };
	pid_t pid = fork();

	if (pid == 0) {
		close(STDERR_FILENO); /* where it is told that the library is not there */
		execve("/bin/sleep", words, variables);
		_exit(1);
	}
	return pid;
}

static void what_the_environment_says_is_to_come(void **state)
{
	static const struct {
		char *variable;
		bool want;
	} t[] = {
		{ ours, true },	       { elsewhere, true }, { others, false },
		{ no_preload, false }, { NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		pid_t pid = run_with(t[i].variable);
		int left = TRIES;

		/* It may not have begun yet. */
		while (timer_prospect(pid, &meeting) != t[i].want && --left)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_not_equal(left, 0);
	}
}

static void nothing_comes_of_who_is_gone_or_meets_nobody(void **state)
{
	static const struct timer_directory none = { .path = "" };
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_false(timer_prospect(pid, &meeting));
	assert_false(timer_prospect(getpid(), &none));
	assert_false(timer_prospect(getpid(), NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_environment_says_is_to_come),
		cmocka_unit_test(nothing_comes_of_who_is_gone_or_meets_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
