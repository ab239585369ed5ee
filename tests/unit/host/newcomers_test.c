/* SPDX-License-Identifier: Apache-2.0 */
#include "host/newcomers.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/procfs.h"

static bool is_among(const struct procfs_ids *ids, pid_t id)
{
	vec_each(x, &ids->ids)
		if (*x == id)
			return true;
	return false;
}

static pid_t begin_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void who_has_begun_since_is_among_them(void **state)
{
	own(procfs_ids_fini) struct procfs_ids ids = { 0 };
	struct newcomers mark = newcomers_mark();
	pid_t first = begin_child(), second = begin_child();

	(void)state;
	assert_int_equal(newcomers_since(&mark, &ids, NULL), 0);
	assert_true(is_among(&ids, first));
	assert_true(is_among(&ids, second));
	end_child(first);
	end_child(second);
}

static void without_a_mark_all_are_new(void **state)
{
	own(procfs_ids_fini) struct procfs_ids ids = { 0 };
	struct newcomers none = { 0 };

	(void)state;
	assert_int_equal(newcomers_since(&none, &ids, NULL), 0);
	assert_true(is_among(&ids, getpid()));
}

/* Ids may have begun again meanwhile, or each of them is not worth to be asked for. */
static void all_are_told_when_ids_tell_nothing(void **state)
{
	struct newcomers now = newcomers_mark();
	const struct newcomers marks[] = {
		{ now.last, 1 },		  /* long ago */
		{ now.last + 100000000, now.ns }, /* begun again */
		{ 1, now.ns },			  /* too many */
	};

	(void)state;
	if (now.last < 100)
		skip(); /* in a container, say */
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		own(procfs_ids_fini) struct procfs_ids ids = { 0 };

		assert_int_equal(newcomers_since(&marks[i], &ids, NULL), 0);
		assert_true(is_among(&ids, getpid()));
		assert_true(is_among(&ids, 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_begun_since_is_among_them),
		cmocka_unit_test(without_a_mark_all_are_new),
		cmocka_unit_test(all_are_told_when_ids_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
