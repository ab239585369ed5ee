/* SPDX-License-Identifier: Apache-2.0 */
#include "host/procfs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void a_name_may_hold_parentheses_and_spaces(void **state)
{
	struct procfs_stat s;

	(void)state;
	assert_int_equal(
		procfs_parse_stat("17 (a) S 1) R 5 17 17 0 -1 0 0 0 0 0 250 50 0 0 "
				  "20 0 1 0 4200 1 1",
				  &s, NULL),
		0);
	assert_string_equal(s.comm, "a) S 1");
	assert_int_equal(s.state, 'R');
	assert_int_equal(s.ppid, 5);
	assert_int_equal(s.user_ns, 2500000000);
	assert_int_equal(s.system_ns, 500000000);
	assert_int_equal(s.start_ns, 42000000000);
}

static void a_task_is_ending_before_its_state_says_so(void **state)
{
	static const struct {
		const char *state_and_flags;
		bool is_ending;
	} t[] = {
		{ "R 1 1 1 0 -1 4194304", false }, { "R 1 1 1 0 -1 4194308", true },
		{ "S 1 1 1 0 -1 4", true },	   { "Z 1 1 1 0 -1 0", true },
		{ "X 1 1 1 0 -1 0", true },	   { "D 1 1 1 4 4 8", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct procfs_stat s;
		char line[128];

		snprintf(line, sizeof(line), "17 (a) %s 0 0 0 0 0 0 0 0 20 0 1 0 0 1 1",
			 t[i].state_and_flags);
		assert_int_equal(procfs_parse_stat(line, &s, NULL), 0);
		assert_int_equal(s.is_ending, t[i].is_ending);
	}
}

static void a_task_is_killed_before_it_has_a_cpu_to_end_with(void **state)
{
	static const struct {
		const char *pending;
		bool is_killed;
	} t[] = {
		{ "0", false },	 { "256", true },  { "255", false },
		{ "768", true }, { "512", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct procfs_stat s;
		char line[128];

		snprintf(line, sizeof(line),
			 "17 (a) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 1 1 256 1 1 "
			 "1 1 1 %s 256 0 0",
			 t[i].pending);
		assert_int_equal(procfs_parse_stat(line, &s, NULL), 0);
		assert_int_equal(s.is_killed, t[i].is_killed);
		assert_false(s.is_ending);
	}
}

static void a_short_line_is_refused_with_a_reason(void **state)
{
	static const char *const bad[] = { "", "1 (x", "1 )x(", "1 (x) R 2 3" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct procfs_stat s;
		struct err e = { 0 };

		assert_int_equal(procfs_parse_stat(bad[i], &s, &e), ERR_FORMAT);
		assert_true(e.text[0]);
	}
}

static void stolen_time_is_that_of_all_cpus(void **state)
{
	uint64_t ns = 0;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(procfs_parse_stolen_ns("cpu  9 8 7 6 5 4 3 250 2 1\n"
						"cpu0 9 8 7 6 5 4 3 17 2 1\n",
						&ns, NULL),
			 0);
	assert_int_equal(ns, 2500000000);
	assert_int_equal(procfs_parse_stolen_ns("cpu  9 8 7 6 5 4 3\n", &ns, &e),
			 ERR_FORMAT);
	assert_int_equal(procfs_stolen_ns(&ns, NULL), 0);
}

static void we_find_ourselves(void **state)
{
	struct procfs_ids ids = { 0 };
	struct procfs_stat s;
	pid_t pid;
	char text[4096];

	(void)state;
	assert_int_equal(procfs_stat(getpid(), &s, NULL), 0);
	assert_int_equal(s.ppid, getppid());
	assert_int_equal(procfs_tasks(getpid(), &ids, NULL), 0);
	assert_int_equal(ids.ids.at[0], getpid());
	assert_int_equal(procfs_process_of(getpid(), &pid, NULL), 0);
	assert_int_equal(pid, getpid());
	assert_int_equal(procfs_exe(getpid(), text, sizeof(text), NULL), 0);
	assert_non_null(strstr(text, "procfs_test"));
	assert_int_equal(procfs_cmdline(getpid(), text, sizeof(text), NULL), 0);
	procfs_ids_fini(&ids);
}

static bool has(const struct procfs_ids *ids, pid_t pid)
{
	for (size_t i = 0; i < ids->ids.n; i++)
		if (ids->ids.at[i] == pid)
			return true;
	return false;
}

static void descendants_are_children_and_their_children(void **state)
{
	struct procfs_ids ids = { 0 };
	int grandchild[2];
	pid_t child, inner = 0;

	(void)state;
	assert_int_equal(pipe(grandchild), 0);
	child = fork();
	if (child == 0) {
		inner = fork();
		if (inner != 0 && write(grandchild[1], &inner, sizeof(inner)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(grandchild[0], &inner, sizeof(inner)), sizeof(inner));
	assert_int_equal(procfs_descendants(getpid(), &ids, NULL), 0);
	assert_true(has(&ids, child));
	assert_true(has(&ids, inner));
	assert_false(has(&ids, getpid()));
	assert_int_equal(procfs_descendants(inner, &ids, NULL), 0);
	assert_int_equal(ids.ids.n, 0);
	kill(inner, SIGKILL);
	/* It has ended, and nobody waits for it. */
	while (!procfs_has_ended(inner))
		usleep(1000);
	assert_int_equal(kill(inner, 0), 0);
	assert_int_equal(procfs_descendants(getpid(), &ids, NULL), 0);
	assert_true(has(&ids, child));
	assert_false(has(&ids, inner));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(grandchild[0]);
	close(grandchild[1]);
	procfs_ids_fini(&ids);
}

static void who_has_ended_has_so_before_anybody_waits_for_it(void **state)
{
	siginfo_t info;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		pause();
	assert_false(procfs_has_ended(pid));
	assert_false(procfs_is_ending(pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(procfs_has_ended(pid));
	assert_true(procfs_is_ending(pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(procfs_has_ended(pid));
	assert_true(procfs_is_ending(pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_may_hold_parentheses_and_spaces),
		cmocka_unit_test(a_task_is_ending_before_its_state_says_so),
		cmocka_unit_test(a_task_is_killed_before_it_has_a_cpu_to_end_with),
		cmocka_unit_test(a_short_line_is_refused_with_a_reason),
		cmocka_unit_test(stolen_time_is_that_of_all_cpus),
		cmocka_unit_test(we_find_ourselves),
		cmocka_unit_test(who_has_ended_has_so_before_anybody_waits_for_it),
		cmocka_unit_test(descendants_are_children_and_their_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
