/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/pipe_write.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static volatile sig_atomic_t n_signals;

static void count(int signal)
{
	(void)signal;
	n_signals++;
}

static void begin(int fds[2])
{
	n_signals = 0;
	signal(SIGPIPE, count);
	assert_int_equal(pipe(fds), 0);
}

static bool is_blocked(void)
{
	sigset_t now;

	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &now), 0);
	return sigismember(&now, SIGPIPE);
}

static bool is_pending(void)
{
	sigset_t now;

	assert_int_equal(sigpending(&now), 0);
	return sigismember(&now, SIGPIPE);
}

static void what_is_written_arrives(void **state)
{
	int fds[2];
	char got[4] = "";

	(void)state;
	begin(fds);
	assert_int_equal(pipe_write(fds[1], "ab", 2), 2);
	assert_int_equal(read(fds[0], got, sizeof(got)), 2);
	assert_string_equal(got, "ab");
	assert_false(is_blocked());
	close(fds[0]);
	close(fds[1]);
}

static void a_pipe_that_nobody_reads_gives_no_signal(void **state)
{
	int fds[2];

	(void)state;
	begin(fds);
	close(fds[0]);
	assert_int_equal(pipe_write(fds[1], "a", 1), -EPIPE);
	assert_int_equal(n_signals, 0);
	assert_false(is_pending());
	assert_false(is_blocked());
	/* As it would be else. */
	assert_int_equal(write(fds[1], "a", 1), -1);
	assert_int_equal(n_signals, 1);
	close(fds[1]);
}

static void a_signal_that_waits_goes_on_waiting(void **state)
{
	int fds[2];
	sigset_t set;

	(void)state;
	begin(fds);
	close(fds[0]);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	raise(SIGPIPE);
	assert_int_equal(pipe_write(fds[1], "a", 1), -EPIPE);
	assert_true(is_pending());
	assert_true(is_blocked());
	assert_int_equal(n_signals, 0);
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
	assert_int_equal(n_signals, 1);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_arrives),
		cmocka_unit_test(a_pipe_that_nobody_reads_gives_no_signal),
		cmocka_unit_test(a_signal_that_waits_goes_on_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
