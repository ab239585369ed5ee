/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "inject/restart.h"

#ifdef __x86_64__
/* mov $nr, %eax; syscall */
static uint8_t code[64] __attribute__((aligned(64)));

static ucontext_t behind_call(int nr, long result)
{
	ucontext_t uc = { 0 };

	memcpy(code + 20, "\xb8....\x0f\x05", 7);
	memcpy(code + 21, &nr, 4);
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(code + 27);
	uc.uc_mcontext.gregs[REG_RCX] = (greg_t)(code + 27);
	uc.uc_mcontext.gregs[REG_RAX] = result;
	return uc;
}

static void an_interrupted_wait_is_made_again(void **state)
{
	ucontext_t uc = behind_call(SYS_epoll_wait, -EINTR);

	(void)state;
	restart_alone(&uc);
	assert_int_equal(uc.uc_mcontext.gregs[REG_RIP], (greg_t)(code + 25));
	assert_int_equal(uc.uc_mcontext.gregs[REG_RAX], SYS_epoll_wait);
}

static void stays(ucontext_t uc)
{
	greg_t result = uc.uc_mcontext.gregs[REG_RAX];

	restart_alone(&uc);
	assert_int_equal(uc.uc_mcontext.gregs[REG_RAX], result);
	assert_int_equal(uc.uc_mcontext.gregs[REG_RIP], (greg_t)(code + 27));
}

static void everything_else_stays_as_it_is(void **state)
{
	ucontext_t elsewhere;

	(void)state;
	stays(behind_call(SYS_poll, 1));
	stays(behind_call(SYS_close, -EINTR));
	elsewhere = behind_call(SYS_poll, -EINTR);
	elsewhere.uc_mcontext.gregs[REG_RCX] = 0; /* not just behind the instruction */
	stays(elsewhere);
}

static void a_call_that_another_signal_ended_fails_unless_that_one_restarts(void **state)
{
	ucontext_t uc = behind_call(SYS_read, SYS_read);

	(void)state;
	uc.uc_mcontext.gregs[REG_RIP] -= 2; /* as the kernel sets it back */
	restart_for_other(&uc, SA_RESTART);
	assert_int_equal(uc.uc_mcontext.gregs[REG_RAX], SYS_read);
	restart_for_other(&uc, 0);
	assert_int_equal(uc.uc_mcontext.gregs[REG_RAX], -EINTR);
	assert_int_equal(uc.uc_mcontext.gregs[REG_RIP], (greg_t)(code + 27));
}
#else
static void a_call_that_another_signal_ended_fails_unless_that_one_restarts(void **state)
{
	(void)state;
	skip();
}

static void an_interrupted_wait_is_made_again(void **state)
{
	(void)state;
	skip(); /* this CPU's calls cannot be made again */
}

static void everything_else_stays_as_it_is(void **state)
{
	(void)state;
	skip();
}
#endif

static void kernels_that_interrupt_early_are_known_by_release(void **state)
{
	(void)state;
	assert_true(restart_is_early("4.19.0-27-amd64"));
	assert_true(restart_is_early("5.10.0-29-amd64"));
	assert_false(restart_is_early("5.11.0"));
	assert_false(restart_is_early("6.1.0-26-amd64"));
	assert_false(restart_is_early("10.0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupted_wait_is_made_again),
		cmocka_unit_test(everything_else_stays_as_it_is),
		cmocka_unit_test(
			a_call_that_another_signal_ended_fails_unless_that_one_restarts),
		cmocka_unit_test(kernels_that_interrupt_early_are_known_by_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
