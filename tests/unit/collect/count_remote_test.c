/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_remote.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void a_system_call_is_found_by_its_two_bytes(void **state)
{
	static const uint8_t code[] = { 0x90, 0x0f, 0x0f, 0x05, 0xc3 };

	(void)state;
	assert_int_equal(count_remote_find_call(code, sizeof(code), 0x1000), 0x1002);
	assert_int_equal(count_remote_find_call(code, 3, 0x1000), 0);
	assert_int_equal(count_remote_find_call(code, 0, 0x1000), 0);
}

static void registers_come_back_as_they_went(void **state)
{
	struct count_control_regs all, back;
	struct user_regs_struct regs = { .fs_base = 7, .gs_base = 8 };

	(void)state;
	for (unsigned i = 0; i < 16; i++)
		all.regs[i] = 100 + i;
	all.flags = 0x246;
	all.ip = 0x1234;
	all.gs_base = 8; /* is not put, as the engine's is there until the end */
	count_remote_put(&regs, &all);
	assert_int_equal(regs.rsp, 104); /* by the instruction set's numbers */
	assert_int_equal(regs.r15, 115);
	assert_int_equal(regs.fs_base, 7);
	assert_int_equal(regs.gs_base, 8);
	assert_int_equal(regs.orig_rax, -1); /* in no call */
	count_remote_take(&regs, &back);
	assert_memory_equal(&all, &back, sizeof(all));
}

static void memory_is_read_and_written_whole_or_not(void **state)
{
	uint64_t here = 5, copy = 0;

	(void)state;
	assert_true(count_remote_read(getpid(), (uint64_t)&here, &copy, sizeof(copy)));
	assert_int_equal(copy, 5);
	copy = 6;
	assert_true(count_remote_write(getpid(), (uint64_t)&here, &copy, sizeof(copy)));
	assert_int_equal(here, 6);
	assert_false(count_remote_read(getpid(), 8, &copy, sizeof(copy)));
}

static volatile uint64_t word;

static void say(void)
{
	word = 1;
	for (;;)
		;
}

static void say_nothing(void)
{
	for (;;)
		;
}

static void fail_before(void)
{
	__builtin_trap();
}

/* A child of ours, which stands. */
static struct count_tracee begin(struct user_regs_struct *ret_regs)
{
	struct count_tracee t = { .tid = fork() };

	assert_true(t.tid >= 0);
	if (!t.tid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_int_equal(ptrace(PTRACE_SEIZE, t.tid, 0, PTRACE_O_TRACESYSGOOD), 0);
	assert_true(count_tracee_stop_now(&t) && count_tracee_get(&t, ret_regs));
	return t;
}

static void end(const struct count_tracee *t)
{
	kill(t->tid, SIGKILL);
	waitpid(t->tid, NULL, __WALL);
}

/* It goes on to where it is led; is_there: it stands afterwards. */
static bool run_to(void (*where)(void), uint64_t limit_ns, bool *ret_is_there)
{
	struct user_regs_struct regs;
	struct count_tracee t = begin(&regs);
	bool is_told;

	regs.rip = (uint64_t)where;
	regs.orig_rax = -1UL;
	is_told = count_remote_run_through(&t, &regs, (uint64_t)&word, limit_ns);
	*ret_is_there = count_tracee_get(&t, &regs);
	end(&t);
	return is_told;
}

static void who_runs_to_a_word_is_waited_for_no_longer_than_it_can_come(void **state)
{
	static const struct {
		void (*where)(void);
		uint64_t limit_ns;
		bool is_told;
	} cases[] = {
		{ say, 60000000000, true },
		{ say_nothing, 10000000, false },
		{ fail_before, 60000000000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_there;

		assert_int_equal(run_to(cases[i].where, cases[i].limit_ns, &is_there),
				 cases[i].is_told);
		assert_true(is_there);
	}
}

/* As one that has executed another program has no call where the old one had it. */
static void who_has_no_call_there_makes_none(void **state)
{
	struct user_regs_struct before, regs;
	struct count_tracee t = begin(&before);
	uint64_t sites[] = { 0, 8, (uint64_t)say, (uint64_t)fail_before };

	(void)state;
	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++) {
		assert_int_equal(count_remote_call(&t, sites[i], SYS_getpid, 0, 0, 0, 0),
				 -ESRCH);
		assert_true(count_tracee_get(&t, &regs));
		assert_memory_equal(&regs, &before, sizeof(regs));
	}
	end(&t);
}

static void who_fails_before_its_call_is_not_waited_for(void **state)
{
	struct user_regs_struct regs;
	struct count_tracee t = begin(&regs);

	(void)state;
	regs.rip = (uint64_t)fail_before;
	regs.orig_rax = -1UL;
	assert_false(count_remote_run(&t, &regs, (uint64_t)&word));
	assert_true(count_tracee_get(&t, &regs));
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_system_call_is_found_by_its_two_bytes),
		cmocka_unit_test(registers_come_back_as_they_went),
		cmocka_unit_test(memory_is_read_and_written_whole_or_not),
		cmocka_unit_test(
			who_runs_to_a_word_is_waited_for_no_longer_than_it_can_come),
		cmocka_unit_test(who_has_no_call_there_makes_none),
		cmocka_unit_test(who_fails_before_its_call_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
