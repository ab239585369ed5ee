/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/probe_operand.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REGISTER PROBE_OPERAND_REGISTER
#define MEMORY	 PROBE_OPERAND_MEMORY
#define CONSTANT PROBE_OPERAND_CONSTANT

static void what_assemblers_write_is_read(void **state)
{
	static const struct {
		unsigned machine;
		const char *text;
		struct {
			enum probe_operand_kind kind;
			uint32_t size;
			bool is_signed;
			uint32_t base, index, factor;
			int64_t offset;
			bool is_narrow;
		} is;
	} t[] = {
		{ EM_X86_64, "8@%rax", { REGISTER, 8, false, 80, 0, 0, 0 } },
		{ EM_X86_64, "-4@%edi", { REGISTER, 4, true, 112, 0, 0, 0 } },
		{ EM_X86_64, "1@%r15b", { REGISTER, 1, false, 0, 0, 0, 0 } },
		{ EM_X86_64, "2@%sp", { REGISTER, 2, false, 152, 0, 0, 0 } },
		{ EM_X86_64, "4@$-7", { CONSTANT, 4, false, 0, 0, 0, -7 } },
		{ EM_X86_64, "-4@-12(%rbp)", { MEMORY, 4, true, 32, 0, 0, -12 } },
		{ EM_X86_64, "8@(%rsp)", { MEMORY, 8, false, 152, 0, 0, 0 } },
		{ EM_X86_64, "8@0x10(%rdi)", { MEMORY, 8, false, 112, 0, 0, 16 } },
		{ EM_X86_64, "8@(%rdi,%rcx,8)", { MEMORY, 8, false, 112, 88, 8, 0 } },
		{ EM_X86_64, "1@3(%rdi,%rcx)", { MEMORY, 1, false, 112, 88, 1, 3 } },
		{ EM_386, "-4@%eax", { REGISTER, 4, true, 80, 0, 0, 0, true } },
		{ EM_386, "4@8(%esp)", { MEMORY, 4, false, 152, 0, 0, 8, true } },
		{ EM_AARCH64, "8@x0", { REGISTER, 8, false, 0, 0, 0, 0 } },
		{ EM_AARCH64, "-4@w30", { REGISTER, 4, true, 240, 0, 0, 0 } },
		{ EM_AARCH64, "4@[sp, 12]", { MEMORY, 4, false, 248, 0, 0, 12 } },
		{ EM_AARCH64, "8@[x29,-16]", { MEMORY, 8, false, 232, 0, 0, -16 } },
		{ EM_AARCH64, "8@[x1]", { MEMORY, 8, false, 8, 0, 0, 0 } },
		{ EM_AARCH64, "4@-1", { CONSTANT, 4, false, 0, 0, 0, -1 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct probe_operand o;

		assert_int_equal(probe_operand_parse(t[i].text, t[i].machine, &o, NULL),
				 0);
		assert_int_equal(o.kind, t[i].is.kind);
		assert_int_equal(o.size, t[i].is.size);
		assert_int_equal(o.is_signed, t[i].is.is_signed);
		assert_int_equal(o.base, t[i].is.base);
		assert_int_equal(o.index, t[i].is.index);
		assert_int_equal(o.factor, t[i].is.factor);
		assert_int_equal(o.offset, t[i].is.offset);
		assert_int_equal(o.is_narrow, t[i].is.is_narrow);
	}
}

static void what_cannot_be_read_is_refused(void **state)
{
	static const char *const t[] = {
		"",
		"8",
		"8@",
		"3@%rax",
		"0@%rax",
		"16@%xmm0",
		"8@%rax ",
		"8@rax",
		"8@%raxx",
		"8@%",
		"8@(%rax",
		"8@(%rax,%rbx,3)",
		"8@(,%rcx,8)",
		"8@12",
		"8@$",
		"8@global(%rip)",
		"8@%rax,%rbx",
		"8f@%rax",
		"@%rax",
		"99999999999999999999@%rax",
		"8@99999999999999999999(%rax)",
	};
	static const char *const arm[] = { "8@x31", "8@[x0, x1]", "8@[sp, 4",
					   "8@y0",  "8@x",	  "8@x0x" };
	struct probe_operand o;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct err e = { 0 };

		assert_int_equal(probe_operand_parse(t[i], EM_X86_64, &o, &e),
				 ERR_FORMAT);
		assert_true(e.text[0]);
	}
	assert_int_equal(probe_operand_parse("4@r0", EM_ARM, &o, NULL), ERR_FORMAT);
	for (size_t i = 0; i < sizeof(arm) / sizeof(arm[0]); i++)
		assert_int_equal(probe_operand_parse(arm[i], EM_AARCH64, &o, NULL),
				 ERR_FORMAT);
}

static void lists_part_at_blanks_but_those_in_brackets(void **state)
{
	struct probe_operand o;

	(void)state;
	assert_int_equal(probe_operand_count(""), 0);
	assert_int_equal(probe_operand_count("8@%rax  -4@%esi "), 2);
	assert_int_equal(probe_operand_count("8@x0 4@[sp, 12] 4@5"), 3);
	assert_int_equal(
		probe_operand_nth("8@x0 4@[sp, 12] 4@5", 3, EM_AARCH64, &o, NULL), 0);
	assert_int_equal(o.offset, 5);
	assert_int_equal(probe_operand_nth("8@%rax -4@%esi", 2, EM_X86_64, &o, NULL), 0);
	assert_true(o.is_signed);
	assert_int_equal(probe_operand_nth("8@%rax", 2, EM_X86_64, &o, NULL), ERR_USAGE);
	assert_int_equal(probe_operand_nth("8@%rax", 0, EM_X86_64, &o, NULL), ERR_USAGE);
}

static void what_calls_have_can_be_read(void **state)
{
	static const unsigned machines[] = { EM_X86_64, EM_386, EM_AARCH64 };

	(void)state;
	assert_null(probe_operand_of_call(0, EM_ARM));
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct probe_operand o;
		unsigned n = 0;

		for (; probe_operand_of_call(n, machines[i]); n++)
			assert_int_equal(
				probe_operand_parse(probe_operand_of_call(n, machines[i]),
						    machines[i], &o, NULL),
				0);
		assert_true(n >= 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_assemblers_write_is_read),
		cmocka_unit_test(what_cannot_be_read_is_refused),
		cmocka_unit_test(lists_part_at_blanks_but_those_in_brackets),
		cmocka_unit_test(what_calls_have_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
