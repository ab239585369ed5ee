/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "unwind/abi.h"

#define CODE_ADDR  0x1000
#define CODE_BYTES 128

struct code {
	uint8_t bytes[CODE_BYTES];
};

static bool read_code(void *ctx, uint64_t addr, uint64_t *ret)
{
	const struct code *code = ctx;

	if (addr < CODE_ADDR || addr - CODE_ADDR > CODE_BYTES - 8)
		return false;
	memcpy(ret, code->bytes + (addr - CODE_ADDR), 8);
	return true;
}

/* Filled up with traps, at which a way ends. */
static bool find(const char *bytes, size_t size, unsigned branches,
		 struct code_paths *ret)
{
	struct code code;
	struct code_path_input in = { read_code, &code, CODE_ADDR, 100, branches };

	memset(code.bytes, 0xcc, sizeof(code.bytes));
	memcpy(code.bytes, bytes, size);
	return code_path_find(&in, ret);
}

#define FIND(bytes, branches, ret) find(bytes, sizeof(bytes) - 1, branches, ret)

static void pops_give_back_what_the_stack_holds(void **state)
{
	static const uint64_t stack[] = { 1, 2, 0x4444, 0x5555 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6000, sizeof(stack), NULL,
				  NULL };
	struct unwind_regs g = { .valid = 0x1ffff };
	struct code_paths paths;
	struct step s;

	(void)state;
	/* add $8, %rsp; pop %rbp; ret */
	assert_true(FIND("\x48\x83\xc4\x08\x5d\xc3", 0, &paths));
	g.r[UNWIND_X86_64_RSP] = 0x6000;
	g.r[3] = 33;
	assert_int_equal(code_path_step(&paths.at[0], &g, &m, &s), STEP_RETURN);
	assert_int_equal(g.r[UNWIND_X86_64_PC], 0x4444);
	assert_int_equal(g.r[UNWIND_X86_64_RSP], 0x6018);
	assert_int_equal(g.r[UNWIND_X86_64_RBP], 2);
	assert_int_equal(g.r[3], 33);
	assert_true(g.valid & abi_bit(3));
}

static void the_stack_pointer_may_come_from_the_stack(void **state)
{
	static const uint64_t stack[] = { 0, 0x6010, 7, 0x4444, 0 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6000, sizeof(stack), NULL,
				  NULL };
	struct unwind_regs g = { .valid = 0x1ffff };
	struct code_paths paths;
	struct step s;

	(void)state;
	/* mov 8(%rsp), %rsp; pop %rbx; ret $16 */
	assert_true(FIND("\x48\x8b\x64\x24\x08\x5b\xc2\x10\x00", 0, &paths));
	g.r[UNWIND_X86_64_RSP] = 0x6000;
	assert_int_equal(code_path_step(&paths.at[0], &g, &m, &s), STEP_RETURN);
	assert_int_equal(g.r[UNWIND_X86_64_PC], 0x4444);
	assert_int_equal(g.r[UNWIND_X86_64_RSP], 0x6030);
	assert_int_equal(g.r[3], 7);

	m.size = 8;
	g.r[UNWIND_X86_64_RSP] = 0x6000;
	assert_int_equal(code_path_step(&paths.at[0], &g, &m, &s), STEP_STOP);
	assert_int_equal(s.stop, UNWIND_BAD_MEMORY);
	assert_int_equal(s.fault, 0x6008);
}

static void a_register_that_is_written_is_not_the_callers(void **state)
{
	struct unwind_regs g = { .valid = 0x1ffff };
	uint64_t stack[] = { 0x4444, 0 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6000, sizeof(stack), NULL,
				  NULL };
	struct code_paths paths;
	struct step s;

	(void)state;
	/* dec %ebp; ret */
	assert_true(FIND("\xff\xcd\xc3", 0, &paths));
	g.r[UNWIND_X86_64_RSP] = 0x6000;
	assert_int_equal(code_path_step(&paths.at[0], &g, &m, &s), STEP_RETURN);
	assert_false(g.valid & abi_bit(UNWIND_X86_64_RBP));
	assert_true(g.valid & abi_bit(12));
}

static void ways_that_do_not_agree_are_all_given(void **state)
{
	struct code_paths paths;

	(void)state;
	/* jz 1f; ret; 1: pop %rax; ret */
	assert_true(FIND("\x74\x01\xc3\x58\xc3", 6, &paths));
	assert_int_equal(paths.n, 2);
	assert_int_equal(paths.at[0].sp.add[0], 0);
	assert_int_equal(paths.at[1].sp.add[0], 8);
	/* the same, but the straight way is all that is wanted */
	assert_true(FIND("\x74\x01\xc3\x58\xc3", 0, &paths));
	assert_int_equal(paths.n, 1);
	/* jz 1f; push %rax; 1: jmp 1b: no end, and two depths at one place */
	assert_false(FIND("\x74\x01\x50\xeb\xfe", 6, &paths));
}

static void a_register_that_ways_leave_different_is_unknown(void **state)
{
	struct code_paths paths;

	(void)state;
	/* jz 1f; pop %rbx; ret; 1: pop %rbp; ret */
	assert_true(FIND("\x74\x02\x5b\xc3\x5d\xc3", 6, &paths));
	assert_int_equal(paths.at[0].regs[3].reg, CODE_PATH_UNKNOWN);
	assert_int_equal(paths.at[0].regs[6].reg, CODE_PATH_UNKNOWN);
	assert_int_equal(paths.at[0].regs[12].reg, 12);
}

static void what_cannot_be_followed_ends_a_way(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} t[] = {
		{ "\x48\x83\xe4\xf0\xc3", 5 },		       /* and $-16, %rsp; ret */
		{ "\xff\xe0\xc3", 3 },			       /* jmp *%rax */
		{ "\xcc\xc3", 2 },			       /* int3 */
		{ "\x0f\x0b\xc3", 3 },			       /* ud2 */
		{ "\xf4\xc3", 2 },			       /* hlt */
		{ "\x06\xc3", 2 },			       /* no instruction */
		{ "\xe8\x00\x00\x00\x00\x58\xc3", 7 },	       /* call 1f; 1: pop */
		{ "\xe8\x00\x01\x00\x00\x66\x90\x58\xc3", 9 }, /* nothing returns here */
		{ "\xe9\x00\x10\x00\x00", 5 }, /* out of what can be read */
		{ "\xeb\xfe", 2 },	       /* for ever */
		{ "\x66\x58\xc3", 3 },	       /* pop %ax */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct code_paths paths;

		assert_false(find(t[i].bytes, t[i].size, 6, &paths));
	}
}

static void the_stack_cannot_shrink(void **state)
{
	static const uint64_t stack[] = { 0x4444, 0x4444, 0x4444 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6000, sizeof(stack), NULL,
				  NULL };
	struct unwind_regs g = { .valid = 0x1ffff };
	struct code_paths paths;
	struct step s;

	(void)state;
	/* sub $8, %rsp; ret */
	assert_true(FIND("\x48\x83\xec\x08\xc3", 0, &paths));
	g.r[UNWIND_X86_64_RSP] = 0x6008;
	assert_int_equal(code_path_step(&paths.at[0], &g, &m, &s), STEP_STOP);
	assert_int_equal(s.stop, UNWIND_NO_TABLE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pops_give_back_what_the_stack_holds),
		cmocka_unit_test(the_stack_pointer_may_come_from_the_stack),
		cmocka_unit_test(a_register_that_is_written_is_not_the_callers),
		cmocka_unit_test(ways_that_do_not_agree_are_all_given),
		cmocka_unit_test(a_register_that_ways_leave_different_is_unknown),
		cmocka_unit_test(what_cannot_be_followed_ends_a_way),
		cmocka_unit_test(the_stack_cannot_shrink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
