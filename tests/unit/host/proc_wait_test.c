/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc_wait.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void a_system_call_tells_stack_pointer_and_pc(void **state)
{
	static const struct {
		const char *text;
		bool want;
		uint64_t sp, pc;
	} t[] = {
		{ "230 0x0 0x1 0x7ffd 0x0 0xa 0x0 0x7ffd12345678 0x7f0000001000\n", true,
		  0x7ffd12345678, 0x7f0000001000 },
		{ "-1 0x7ffd12345678 0x401000\n", true, 0x7ffd12345678, 0x401000 },
		{ "running\n", false, 0, 0 },
		{ "0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n", false, 0,
		  0 }, /* kernel thread */
		{ "-1 0x0 0x0\n", false, 0, 0 },
		{ "230 0x0 0x7ffd12345678 0x401000\n", false, 0, 0 },
		{ "-1 0x7ffd12345678 ", false, 0, 0 },
		{ "-1 0x7ffd12345678 0x401000 more\n", false, 0, 0 },
		{ "", false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t sp = 0, pc = 0;

		assert_int_equal(proc_wait_parse_syscall(t[i].text, &sp, &pc), t[i].want);
		assert_int_equal(sp, t[i].sp);
		assert_int_equal(pc, t[i].pc);
	}
}

static void both_kinds_of_switches_count(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(proc_wait_parse_switches("Name:\tx\nvoluntary_ctxt_switches:\t40\n"
					     "nonvoluntary_ctxt_switches:\t2\n",
					     &n));
	assert_int_equal(n, 42);
	assert_false(proc_wait_parse_switches("Name:\tx\n", &n));
	assert_false(proc_wait_parse_switches("\nvoluntary_ctxt_switches:\t4\n", &n));
}

static void kernel_frames_have_name_module_and_place(void **state)
{
	static const char text[] = "[<0>] do_wait+0x53/0x110\n"
				   "garbage\n"
				   "[<0>] read_it+0xa/0xb [ext4]\n"
				   "[<0>] cut+0x\n"
				   "[<0>] last+0x1/0x2";
	const char *at = text;
	struct proc_wait_kernel_frame f;

	(void)state;
	assert_true(proc_wait_next_kernel_frame(&at, &f));
	assert_string_equal(f.name, "do_wait");
	assert_string_equal(f.module, "");
	assert_int_equal(f.off, 0x53);
	assert_int_equal(f.size, 0x110);
	assert_true(proc_wait_next_kernel_frame(&at, &f));
	assert_string_equal(f.name, "");
	assert_true(proc_wait_next_kernel_frame(&at, &f));
	assert_string_equal(f.name, "read_it");
	assert_string_equal(f.module, "ext4");
	assert_true(proc_wait_next_kernel_frame(&at, &f));
	assert_string_equal(f.name, "");
	assert_true(proc_wait_next_kernel_frame(&at, &f));
	assert_string_equal(f.name, "last");
	assert_false(proc_wait_next_kernel_frame(&at, &f));
}

static void a_thread_that_runs_is_not_blocked(void **state)
{
	struct proc_wait w;
	struct err e = { 0 };
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		for (volatile unsigned i = 0;; i++)
			;
	usleep(1000);
	assert_int_equal(proc_wait_read(pid, pid, &w, &e), ERR_UNSUPPORTED);
	assert_true(e.text[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_wait_is_the_same_until_the_thread_runs(void **state)
{
	struct proc_wait w;
	int to[2], from[2];
	char c;

	(void)state;
	assert_int_equal(pipe(to) | pipe(from), 0);

	pid_t pid = fork();

	if (pid == 0)
		while (read(to[0], &c, 1) == 1)
			if (write(from[1], &c, 1) != 1)
				_exit(1);
	for (int i = 0; i < 1000 && proc_wait_read(pid, pid, &w, NULL) < 0; i++)
		usleep(1000);
	usleep(1000);
	assert_int_equal(proc_wait_read(pid, pid, &w, NULL), 0);
	assert_true(proc_wait_still(pid, pid, &w));
	assert_int_equal(write(to[1], "x", 1), 1);
	assert_int_equal(read(from[0], &c, 1), 1);
	assert_false(proc_wait_still(pid, pid, &w));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void memory_is_copied_up_to_where_it_ends(void **state)
{
	static const char text[] = "a stack";
	char copy[sizeof(text)];

	(void)state;
	errno = 0;

	size_t n = proc_wait_memory(getpid(), (uintptr_t)text, copy, sizeof(copy));

	if (n == 0 && errno == ENOSYS) { /* emulators lack the call */
		print_message("skipped: no process_vm_readv here\n");
		skip();
	}
	assert_int_equal(n, sizeof(copy));
	assert_string_equal(copy, text);
	assert_int_equal(proc_wait_memory(getpid(), 16, copy, sizeof(copy)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_system_call_tells_stack_pointer_and_pc),
		cmocka_unit_test(both_kinds_of_switches_count),
		cmocka_unit_test(kernel_frames_have_name_module_and_place),
		cmocka_unit_test(a_thread_that_runs_is_not_blocked),
		cmocka_unit_test(a_wait_is_the_same_until_the_thread_runs),
		cmocka_unit_test(memory_is_copied_up_to_where_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
