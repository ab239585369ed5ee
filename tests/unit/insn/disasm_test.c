/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/disasm.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool name_main(void *ctx, uint64_t address, char *text, size_t cap)
{
	(void)ctx;
	if (address < 0x1000 || address >= 0x1100)
		return false;
	snprintf(text, cap, address == 0x1000 ? "main" : "main+0x%x",
		 (unsigned)(address - 0x1000));
	return true;
}

struct expected {
	const char *code;
	size_t size;
	const char *mnemonic, *operands;
	const char *facts; /* of: call jump return conditional target memory bad */
	uint64_t place;
};

static void check(unsigned machine, bool is_intel, const struct expected *t, size_t n)
{
	struct disasm_options options = { machine, is_intel, name_main, NULL };
	own(disasm_freep) struct disasm *d = NULL;
	struct disasm_instruction in;

	assert_int_equal(disasm_new(&options, &d, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = (const uint8_t *)t[i].code;

		assert_int_equal(disasm_decode(d, code, t[i].size, 0x1000, &in),
				 t[i].size);
		assert_string_equal(in.mnemonic, t[i].mnemonic);
		assert_string_equal(in.operands, t[i].operands);
		assert_int_equal(in.is_call, !!strstr(t[i].facts, "call"));
		assert_int_equal(in.is_jump, !!strstr(t[i].facts, "jump"));
		assert_int_equal(in.is_return, !!strstr(t[i].facts, "return"));
		assert_int_equal(in.is_conditional, !!strstr(t[i].facts, "conditional"));
		assert_int_equal(in.has_target, !!strstr(t[i].facts, "target"));
		assert_int_equal(in.has_memory, !!strstr(t[i].facts, "memory"));
		assert_int_equal(in.is_bad, !!strstr(t[i].facts, "bad"));
		if (in.has_target || in.has_memory)
			assert_int_equal(in.has_target ? in.target : in.memory,
					 t[i].place);
	}
}

static void x86_is_decoded_with_its_targets(void **state)
{
	static const struct expected t[] = {
		{ "\xe8\x0b\x00\x00\x00", 5, "callq", "0x1010 <main+0x10>", "call target",
		  0x1010 },
		{ "\x74\xfe", 2, "je", "0x1000 <main>", "jump conditional target",
		  0x1000 },
		{ "\xeb\x7e", 2, "jmp", "0x1080 <main+0x80>", "jump target", 0x1080 },
		{ "\xff\xe0", 2, "jmpq", "*%rax", "jump", 0 },
		{ "\xc3", 1, "retq", "", "return", 0 },
		{ "\x48\x8b\x05\x10\x00\x00\x00", 7, "movq",
		  "0x10(%rip), %rax  # 0x1017 <main+0x17>", "memory", 0x1017 },
		{ "\x06", 1, "(bad)", "0x06", "bad", 0 },
		/* vpcmpnequb (%rdi), %ymm18, %k1 {%k2}: capstone 4 does not have it */
		{ "\x62\xf3\x6d\x22\x3e\x0f\x04", 7, "vpcmpnequb",
		  "(%rdi), %ymm18, %k1 {%k2}", "", 0 },
		{ "\x62\xf1\x7d\x20\x74\x05\x10\x00\x00\x00", 10, "vpcmpeqb",
		  "0x10(%rip), %ymm16, %k0  # 0x101a <main+0x1a>", "memory", 0x101a },
		{ "\x62\xf2\xed\x28\xb4\xd9", 6, "(unknown)", "62f2ed28b4d9", "", 0 },
	};
	static const struct expected intel[] = {
		{ "\x48\x01\xd8", 3, "add", "rax, rbx", "", 0 },
	};

	(void)state;
	check(EM_X86_64, false, t, sizeof(t) / sizeof(t[0]));
	check(EM_X86_64, true, intel, sizeof(intel) / sizeof(intel[0]));
}

static void aarch64_is_decoded_with_its_targets(void **state)
{
	static const struct expected t[] = {
		{ "\x04\x00\x00\x94", 4, "bl", "#0x1010 <main+0x10>", "call target",
		  0x1010 },
		{ "\x00\x00\x00\x14", 4, "b", "#0x1000 <main>", "jump target", 0x1000 },
		{ "\x40\x00\x00\x54", 4, "b.eq", "#0x1008 <main+0x8>",
		  "jump conditional target", 0x1008 },
		{ "\x40\x00\x18\x36", 4, "tbz", "w0, #3, #0x1008 <main+0x8>",
		  "jump conditional target", 0x1008 },
		{ "\xc0\x03\x5f\xd6", 4, "ret", "", "return", 0 },
		{ "\x00\x00\x00\x00", 4, "(bad)", "0x00 0x00 0x00 0x00", "bad", 0 },
	};

	(void)state;
	check(EM_AARCH64, false, t, sizeof(t) / sizeof(t[0]));
}

static void other_machines_are_refused_with_a_text(void **state)
{
	struct disasm_options options = { .machine = EM_S390 };
	struct disasm *d = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(disasm_new(&options, &d, &e), ERR_UNSUPPORTED);
	assert_non_null(strstr(e.text, "22"));
	assert_null(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_is_decoded_with_its_targets),
		cmocka_unit_test(aarch64_is_decoded_with_its_targets),
		cmocka_unit_test(other_machines_are_refused_with_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
