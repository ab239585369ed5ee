/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_remote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_system_call_is_found_by_its_two_bytes),
		cmocka_unit_test(registers_come_back_as_they_went),
		cmocka_unit_test(memory_is_read_and_written_whole_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
