/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/operation.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "rax rcx flags" */
static void name_registers(const struct operation_reader *r,
			   operation_registers registers, char *s, size_t cap)
{
	size_t at = 0;

	s[0] = '\0';
	for (unsigned i = 0; i < OPERATION_N_REGS; i++)
		if (operation_has_register(registers, i))
			at += (size_t)snprintf(s + at, cap - at, "%s%s", at ? " " : "",
					       operation_register_name(r, i));
}

static void what_it_does(const struct operation *o, char *s, size_t cap)
{
	snprintf(s, cap, "%s%s%s%s%s%s", o->loads ? " loads" : "",
		 o->stores ? " stores" : "", o->pushes ? " pushes" : "",
		 o->pops ? " pops" : "", o->is_zeroing ? " zeroing" : "",
		 o->may_fuse_with_branch ? " fuses" : "");
}

static const struct {
	const char *code;
	size_t size;
	enum operation_class class;
	const char *reads, *writes, *address, *does;
} known[] = {
	/* mov %rsp,%rbp */
	{ "\x48\x89\xe5", 3, OPERATION_MOVE, "rsp", "rbp", "", "" },
	/* mov 8(%rdi,%rax,4),%ecx */
	{ "\x8b\x4c\x87\x08", 4, OPERATION_MOVE, "", "rcx", "rax rdi", " loads" },
	/* mov %al,(%rdi) */
	{ "\x88\x07", 2, OPERATION_MOVE, "rax", "", "rdi", " stores" },
	/* mov %al,%bl: the rest of rbx stays */
	{ "\x88\xc3", 2, OPERATION_MOVE, "rax rbx", "rbx", "", "" },
	/* xor %eax,%eax */
	{ "\x31\xc0", 2, OPERATION_LOGIC, "rax", "rax flags", "", " zeroing" },
	/* xor %al,%al: not of the whole register */
	{ "\x30\xc0", 2, OPERATION_LOGIC, "rax", "rax flags", "", "" },
	/* add $8,%rsp */
	{ "\x48\x83\xc4\x08", 4, OPERATION_ADD, "rsp", "rsp flags", "", " fuses" },
	/* addq $1,(%rsi) */
	{ "\x48\x83\x06\x01", 4, OPERATION_ADD, "", "flags", "rsi", " loads stores" },
	/* lock addq $1,(%rsi) */
	{ "\xf0\x48\x83\x06\x01", 5, OPERATION_ATOMIC, "", "flags", "rsi",
	  " loads stores" },
	/* cmp %rax,(%rdi): with one it may fuse, with an immediate not */
	{ "\x48\x39\x07", 3, OPERATION_LOGIC, "rax", "flags", "rdi", " loads fuses" },
	{ "\x48\x83\x3f\x01", 4, OPERATION_LOGIC, "", "flags", "rdi", " loads" },
	/* test %rax,%rax */
	{ "\x48\x85\xc0", 3, OPERATION_LOGIC, "rax", "flags", "", " fuses" },
	/* testb $1,(%rsi); sete (%rsi); cmpxchg %ecx,(%rsi); rolb (%rsi) */
	{ "\xf6\x06\x01", 3, OPERATION_LOGIC, "", "flags", "rsi", " loads" },
	{ "\x0f\x94\x06", 3, OPERATION_SET, "flags", "", "rsi", " stores" },
	{ "\x0f\xb1\x0e", 3, OPERATION_ATOMIC, "rax rcx", "rax flags", "rsi",
	  " loads stores" },
	{ "\xd0\x06", 2, OPERATION_SHIFT, NULL, NULL, NULL, " loads stores" },
	/* fstpl (%rsi); fistpll (%rsi); stmxcsr (%rsi); movnti %eax,(%rsi) */
	{ "\xdd\x1e", 2, OPERATION_X87_MOVE, NULL, NULL, NULL, " stores" },
	{ "\xdf\x3e", 2, OPERATION_X87_ADD, NULL, NULL, NULL, " stores" },
	{ "\x0f\xae\x1e", 3, OPERATION_MICROCODE, NULL, NULL, NULL, " stores" },
	{ "\x0f\xc3\x06", 3, OPERATION_MOVE, "rax", "", "rsi", " stores" },
	/* vextractps $1,%xmm0,(%rsi) */
	{ "\xc4\xe3\x79\x17\x06\x01", 6, OPERATION_VECTOR_EXTRACT, "zmm0", "", "rsi",
	  " stores" },
	/* lea 8(%rdi),%rax; lea 5(%rdi,%rax,2),%rcx */
	{ "\x48\x8d\x47\x08", 4, OPERATION_LEA, "", "rax", "rdi", "" },
	{ "\x48\x8d\x4c\x47\x05", 5, OPERATION_LEA_COMPLEX, "", "rcx", "rax rdi", "" },
	/* shl $3,%rax; shl %cl,%rax */
	{ "\x48\xc1\xe0\x03", 4, OPERATION_SHIFT, "rax", "rax flags", "", "" },
	{ "\x48\xd3\xe0", 3, OPERATION_SHIFT_BY_REGISTER, "rax rcx", "rax flags", "",
	  "" },
	/* imul %rcx,%rax; mul %rcx */
	{ "\x48\x0f\xaf\xc1", 4, OPERATION_MULTIPLY, "rax rcx", "rax flags", "", "" },
	{ "\x48\xf7\xe1", 3, OPERATION_MULTIPLY_WIDE, "rax rcx", "rax rdx flags", "",
	  "" },
	/* div %ecx; div %rcx */
	{ "\xf7\xf1", 2, OPERATION_DIVIDE_32, "rax rcx rdx", "rax rdx flags", "", "" },
	{ "\x48\xf7\xf1", 3, OPERATION_DIVIDE_64, "rax rcx rdx", "rax rdx flags", "",
	  "" },
	/* cqto */
	{ "\x48\x99", 2, OPERATION_EXTEND, "rax", "rdx", "", "" },
	/* push %rbx; pop %rbx; ret; call */
	{ "\x53", 1, OPERATION_MOVE, "rbx rsp", "rsp", "", " stores pushes" },
	{ "\x5b", 1, OPERATION_MOVE, "rsp", "rbx rsp", "", " loads pops" },
	{ "\xc3", 1, OPERATION_RETURN, "rsp", "rsp", "", " loads pops" },
	{ "\xe8\x00\x00\x00\x00", 5, OPERATION_CALL, "rsp", "rsp", "", " stores pushes" },
	/* jmp *%rax; jmp; jne */
	{ "\xff\xe0", 2, OPERATION_JUMP_INDIRECT, "rax", "", "", "" },
	{ "\xeb\x00", 2, OPERATION_JUMP, "", "", "", "" },
	{ "\x75\x00", 2, OPERATION_BRANCH, "flags", "", "", "" },
	/* rep movsb; movsb */
	{ "\xf3\xa4", 2, OPERATION_REPEATED, "rcx rsi rdi flags", "rcx rsi rdi",
	  "rsi rdi", " loads stores" },
	/* endbr64; nopw 0(%rax,%rax) */
	{ "\xf3\x0f\x1e\xfa", 4, OPERATION_NOP, "", "", "", "" },
	{ "\x66\x0f\x1f\x44\x00\x00", 6, OPERATION_NOP, "", "", "rax", "" },
	/* addsd %xmm1,%xmm0; vaddpd %ymm1,%ymm2,%ymm0; minsd */
	{ "\xf2\x0f\x58\xc1", 4, OPERATION_FP_ADD, "zmm0 zmm1", "zmm0", "", "" },
	{ "\xc5\xed\x58\xc1", 4, OPERATION_FP_ADD, "zmm1 zmm2", "zmm0", "", "" },
	{ "\xf2\x0f\x5d\xc1", 4, OPERATION_FP_EXTREME, "zmm0 zmm1", "zmm0", "", "" },
	/* movsd (%rdi),%xmm0; movsd %xmm1,%xmm0: keeps the upper half; movsl */
	{ "\xf2\x0f\x10\x07", 4, OPERATION_VECTOR_MOVE, "", "zmm0", "rdi", " loads" },
	{ "\xf2\x0f\x10\xc1", 4, OPERATION_VECTOR_BLEND, "zmm0 zmm1", "zmm0", "", "" },
	{ "\xa5", 1, OPERATION_STRING, "rsi rdi flags", "rsi rdi", "rsi rdi",
	  " loads stores" },
	/* vmovaps %ymm0,32(%rsi) */
	{ "\xc5\xfc\x29\x46\x20", 5, OPERATION_VECTOR_MOVE, "zmm0", "", "rsi",
	  " stores" },
	/* movq %rax,%xmm0; movq %xmm0,%rax */
	{ "\x66\x48\x0f\x6e\xc0", 5, OPERATION_GENERAL_TO_VECTOR, "rax", "zmm0", "", "" },
	{ "\x66\x48\x0f\x7e\xc0", 5, OPERATION_VECTOR_TO_GENERAL, "zmm0", "rax", "", "" },
	/* cvtsi2sd %eax,%xmm0: waits for what xmm0 had */
	{ "\xf2\x0f\x2a\xc0", 4, OPERATION_CONVERT_FROM_GENERAL, "rax zmm0", "zmm0", "",
	  "" },
	/* pxor %xmm0,%xmm0; vpxor %xmm1,%xmm0,%xmm0 */
	{ "\x66\x0f\xef\xc0", 4, OPERATION_VECTOR_LOGIC, "zmm0", "zmm0", "", " zeroing" },
	{ "\xc5\xf9\xef\xc1", 4, OPERATION_VECTOR_LOGIC, "zmm0 zmm1", "zmm0", "", "" },
	/* vpminub %ymm17,%ymm18,%ymm16 (EVEX) */
	{ "\x62\xa1\x6d\x20\xda\xc1", 6, OPERATION_VECTOR_ADD, NULL, NULL, NULL, "" },
	/* fadd %st(1),%st */
	{ "\xd8\xc1", 2, OPERATION_X87_ADD, "st", "st", "", "" },
};

static void instructions_are_told_by_class_registers_and_memory(void **state)
{
	own(operation_reader_freep) struct operation_reader *r = NULL;
	struct operation o;
	char text[256];

	(void)state;
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_true(operation_read(r, (const uint8_t *)known[i].code,
					   known[i].size, 0x1000, &o));
		assert_int_equal(o.size, known[i].size);
		assert_string_equal(operation_class_text(o.class),
				    operation_class_text(known[i].class));
		what_it_does(&o, text, sizeof(text));
		assert_string_equal(text, known[i].does);
		if (!known[i].reads)
			continue;
		name_registers(r, o.reads, text, sizeof(text));
		assert_string_equal(text, known[i].reads);
		name_registers(r, o.writes, text, sizeof(text));
		assert_string_equal(text, known[i].writes);
		name_registers(r, o.address, text, sizeof(text));
		assert_string_equal(text, known[i].address);
	}
}

static void sums_of_a_register_and_a_constant_are_told(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		unsigned to, from;
		int64_t offset;
	} t[] = {
		{ "\x48\x83\xc4\x08", 4, 4, 4, 8 },  /* add $8,%rsp */
		{ "\x48\x83\xec\x08", 4, 4, 4, -8 }, /* sub $8,%rsp */
		{ "\x48\xff\xc0", 3, 0, 0, 1 },	     /* inc %rax */
		{ "\x48\xff\xc8", 3, 0, 0, -1 },     /* dec %rax */
		{ "\x48\x8d\x47\x10", 4, 0, 7, 16 }, /* lea 16(%rdi),%rax */
		{ "\x48\x89\xe5", 3, 5, 4, 0 },	     /* mov %rsp,%rbp */
		{ "\x01\xc8", 2, 0, 0xff, 0 },	     /* add %ecx,%eax */
		{ "\x48\x01\xc8", 3, 0, 0xff, 0 },   /* add %rcx,%rax */
		{ "\x83\xc0\x08", 3, 0, 0xff, 0 },   /* add $8,%eax */
		{ "\x48\x8b\x07", 3, 0, 0xff, 0 },   /* mov (%rdi),%rax */
	};
	own(operation_reader_freep) struct operation_reader *r = NULL;
	struct operation o;

	(void)state;
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_true(
			operation_read(r, (const uint8_t *)t[i].code, t[i].size, 0, &o));
		assert_int_equal(o.from, t[i].from);
		if (o.from == OPERATION_NO_REG)
			continue;
		assert_int_equal(o.to, t[i].to);
		assert_int_equal(o.offset, t[i].offset);
	}
}

static void addresses_and_single_numbers_are_told(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		const char *what;
	} t[] = {
		{ "\x48\x8b\x07", 3, "memory" },	      /* mov (%rdi),%rax */
		{ "\x48\x8d\x07", 3, "memory" },	      /* lea (%rdi),%rax */
		{ "\x48\x8b\x05\x08\0\0\0", 7, "memory ip" }, /* mov 8(%rip),%rax */
		{ "\x64\x8b\x04\x25\x28\0\0\0", 8, "memory segment" }, /* %fs:40 */
		{ "\x53", 1, "" },				       /* push %rbx */
		{ "\xff\x37", 2, "memory" },			       /* push (%rdi) */
		{ "\xf2\x0f\x58\xc1", 4, "scalar" },		       /* addsd */
		{ "\x66\x0f\x58\xc1", 4, "" },			       /* addpd */
		{ "\xc5\xf3\x58\xc2", 4, "scalar" },		       /* vaddsd */
		{ "\xf2\x0f\x10\x07", 4, "memory scalar" }, /* movsd (%rdi),%xmm0 */
		{ "\xf2\x0f\x5a\xc0", 4, "scalar" },	    /* cvtsd2ss */
		{ "\x0f\x5a\xc0", 3, "" },		    /* cvtps2pd */
		{ "\xf2\x0f\x2c\xc0", 4, "scalar" },	    /* cvttsd2si */
		{ "\x66\x0f\x2e\xc1", 4, "scalar" },	    /* ucomisd */
		{ "\xc4\xe2\xf1\xb9\xc2", 5, "scalar" },    /* vfmadd231sd */
		{ "\xf3\x0f\x5d\xc1", 4, "scalar" },	    /* minss */
		{ "\x66\x0f\x38\x1e\xc1", 5, "" },	    /* pabsd */
		{ "\xa5", 1, "memory" },		    /* movsl */
	};
	own(operation_reader_freep) struct operation_reader *r = NULL;
	struct operation o;
	char text[64];

	(void)state;
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_true(
			operation_read(r, (const uint8_t *)t[i].code, t[i].size, 0, &o));
		snprintf(text, sizeof(text), "%s%s%s%s", o.has_memory ? " memory" : "",
			 o.is_ip_relative ? " ip" : "", o.has_segment ? " segment" : "",
			 o.is_scalar ? " scalar" : "");
		assert_string_equal(text[0] ? text + 1 : text, t[i].what);
	}
}

static void kinds_of_work_are_told(void **state)
{
	static const struct {
		const char *code;
		size_t size;
		const char *what;
	} t[] = {
		{ "\xe8\0\0\0\0", 5, "call" },		       /* call */
		{ "\xff\x17", 2, "call" },		       /* call *(%rdi) */
		{ "\xc3", 1, "" },			       /* ret */
		{ "\xeb\0", 2, "" },			       /* jmp */
		{ "\x48\xf7\xf1", 3, "divides" },	       /* div %rcx */
		{ "\xf7\xf9", 2, "divides" },		       /* idiv %ecx */
		{ "\xf2\x0f\x5e\xc1", 4, "divides floats" },   /* divsd */
		{ "\x66\x0f\x5e\xc1", 4, "divides floats" },   /* divpd */
		{ "\xf3\x0f\x51\xc1", 4, "divides floats" },   /* sqrtss */
		{ "\xd8\xf1", 2, "divides" },		       /* fdiv %st(1) */
		{ "\xf2\x0f\x59\xc1", 4, "" },		       /* mulsd */
		{ "\xf0\x48\x83\x06\x01", 5, "synchronises" }, /* lock addq */
		{ "\x0f\xae\xf0", 3, "synchronises" },	       /* mfence */
		{ "\x0f\xa2", 2, "synchronises" },	       /* cpuid */
		{ "\x0f\x05", 2, "synchronises" },	       /* syscall */
		{ "\x48\x83\x06\x01", 4, "" },		       /* addq */
	};
	own(operation_reader_freep) struct operation_reader *r = NULL;
	struct operation o;
	char text[64];

	(void)state;
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_true(
			operation_read(r, (const uint8_t *)t[i].code, t[i].size, 0, &o));
		snprintf(text, sizeof(text), "%s%s%s%s",
			 operation_is_call(&o) ? " call" : "",
			 operation_divides(&o) ? " divides" : "",
			 operation_divides_floats(&o) ? " floats" : "",
			 operation_synchronises(&o) ? " synchronises" : "");
		assert_string_equal(text[0] ? text + 1 : text, t[i].what);
	}
}

static void what_is_no_instruction_is_refused(void **state)
{
	own(operation_reader_freep) struct operation_reader *r = NULL;
	struct operation o;
	struct err e;

	(void)state;
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	assert_false(operation_read(r, (const uint8_t *)"\x06", 1, 0, &o));
	assert_false(operation_read(r, (const uint8_t *)"\x48\x89", 2, 0, &o));
	assert_int_equal(operation_reader_new(EM_S390, &r, &e), ERR_UNSUPPORTED);
}

static void calls_leave_what_callees_save(void **state)
{
	operation_registers x86 = operation_changed_by_calls(EM_X86_64),
			    arm = operation_changed_by_calls(EM_AARCH64);

	(void)state;
	/* rax, r11, xmm15, the flags; not rbx, rsp, rbp and r12 */
	assert_true(operation_has_register(x86, 0) && operation_has_register(x86, 11));
	assert_true(operation_has_register(x86, OPERATION_REG_VECTOR + 15));
	assert_true(operation_has_register(x86, OPERATION_REG_FLAGS));
	for (unsigned i = 3; i < 6; i++)
		assert_false(operation_has_register(x86, i));
	for (unsigned i = 12; i < 16; i++)
		assert_false(operation_has_register(x86, i));
	/* x0, x18, x30, v16; not x19, sp and v8 */
	assert_true(operation_has_register(arm, 0) && operation_has_register(arm, 18));
	assert_true(operation_has_register(arm, 30));
	assert_true(operation_has_register(arm, OPERATION_REG_VECTOR + 16));
	assert_false(operation_has_register(arm, 19) || operation_has_register(arm, 31));
	assert_false(operation_has_register(arm, OPERATION_REG_VECTOR + 8));
	assert_true(operation_changed_by_calls(EM_NONE) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_told_by_class_registers_and_memory),
		cmocka_unit_test(sums_of_a_register_and_a_constant_are_told),
		cmocka_unit_test(addresses_and_single_numbers_are_told),
		cmocka_unit_test(kinds_of_work_are_told),
		cmocka_unit_test(what_is_no_instruction_is_refused),
		cmocka_unit_test(calls_leave_what_callees_save),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
