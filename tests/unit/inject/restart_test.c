/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
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
	restart_interrupted(&uc);
	assert_int_equal(uc.uc_mcontext.gregs[REG_RIP], (greg_t)(code + 25));
	assert_int_equal(uc.uc_mcontext.gregs[REG_RAX], SYS_epoll_wait);
}

static void stays(ucontext_t uc)
{
	greg_t result = uc.uc_mcontext.gregs[REG_RAX];

	restart_interrupted(&uc);
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
#else
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupted_wait_is_made_again),
		cmocka_unit_test(everything_else_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
