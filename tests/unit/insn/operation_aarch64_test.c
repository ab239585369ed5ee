/* SPDX-License-Identifier: Apache-2.0 */
/* Words are what GNU as makes of the text beside them. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <capstone/capstone.h>
#include <cmocka.h>

#include "insn/machine_model.h"
#include "insn/operation.h"

static struct operation_reader *reader;

static int make_reader(void **state)
{
	(void)state;
	return operation_reader_new(EM_AARCH64, &reader, NULL);
}

static int free_reader(void **state)
{
	(void)state;
	operation_reader_free(reader);
	return 0;
}

static bool read_at(uint32_t word, uint64_t address, struct operation *ret)
{
	const uint8_t code[4] = { (uint8_t)word, (uint8_t)(word >> 8),
				  (uint8_t)(word >> 16), (uint8_t)(word >> 24) };

	return operation_read(reader, code, sizeof(code), address, ret);
}

static void name_registers(operation_registers registers, char *s, size_t cap)
{
	size_t at = 0;

	s[0] = '\0';
	for (unsigned i = 0; i < OPERATION_N_REGS; i++)
		if (operation_has_register(registers, i))
			at += (size_t)snprintf(s + at, cap - at, "%s%s", at ? " " : "",
					       operation_register_name(reader, i));
}

static const struct {
	const char *text;
	uint32_t word;
	enum operation_class class;
	const char *reads, *writes, *address, *does;
} known[] = {
	{ "mov x0, x1", 0xaa0103e0, OPERATION_MOVE, "x1", "x0", "", "" },
	{ "mov x29, sp", 0x910003fd, OPERATION_ADD, "sp", "x29", "", "" },
	{ "mov w0, #5", 0x528000a0, OPERATION_MOVE, "", "x0", "", "" },
	{ "movk x0, #5, lsl #16", 0xf2a000a0, OPERATION_MOVE, "x0", "x0", "", "" },
	{ "adrp x0, .", 0x90000000, OPERATION_LEA, "", "x0", "", "" },
	{ "add x0, x1, #8", 0x91002020, OPERATION_ADD, "x1", "x0", "", "" },
	{ "sub sp, sp, #32", 0xd10083ff, OPERATION_ADD, "sp", "sp", "", "" },
	{ "add x0, x1, x2", 0x8b020020, OPERATION_ADD, "x1 x2", "x0", "", "" },
	{ "add x0, x1, x2, lsl #3", 0x8b020c20, OPERATION_LEA, "x1 x2", "x0", "", "" },
	{ "add x0, x1, x2, lsl #8", 0x8b022020, OPERATION_LEA_COMPLEX, "x1 x2", "x0", "",
	  "" },
	{ "add x0, sp, w2, uxtw #2", 0x8b224be0, OPERATION_LEA_COMPLEX, "x2 sp", "x0", "",
	  "" },
	{ "subs x0, x1, x2", 0xeb020020, OPERATION_ADD, "x1 x2", "x0 flags", "", "" },
	{ "cmp x0, #3", 0xf1000c1f, OPERATION_LOGIC, "x0", "flags", "", " fuses" },
	{ "cmp x0, x1", 0xeb01001f, OPERATION_LOGIC, "x0 x1", "flags", "", " fuses" },
	{ "tst w0, #7", 0x7200081f, OPERATION_LOGIC, "x0", "flags", "", " fuses" },
	{ "neg x0, x1", 0xcb0103e0, OPERATION_ADD, "x1", "x0", "", "" },
	{ "and x0, x1, #0xff", 0x92401c20, OPERATION_LOGIC, "x1", "x0", "", "" },
	{ "mvn x0, x1", 0xaa2103e0, OPERATION_LOGIC, "x1", "x0", "", "" },
	{ "lsl x0, x1, #3", 0xd37df020, OPERATION_SHIFT, "x1", "x0", "", "" },
	{ "lsl x0, x1, x2", 0x9ac22020, OPERATION_SHIFT, "x1 x2", "x0", "", "" },
	{ "sxtw x0, w1", 0x93407c20, OPERATION_EXTEND, "x1", "x0", "", "" },
	{ "ubfx x0, x1, #3, #7", 0xd3432420, OPERATION_BIT_FIELD, "x1", "x0", "", "" },
	{ "bfi x0, x1, #3, #7", 0xb37d1820, OPERATION_BIT_DEPOSIT, "x0 x1", "x0", "",
	  "" },
	{ "ror x0, x1, #3", 0x93c10c20, OPERATION_SHIFT, "x1", "x0", "", "" },
	{ "extr x0, x1, x2, #3", 0x93c20c20, OPERATION_SHIFT_DOUBLE, "x1 x2", "x0", "",
	  "" },
	{ "adc x0, x1, x2", 0x9a020020, OPERATION_ADD_CARRY, "x1 x2 flags", "x0", "",
	  "" },
	{ "csel x0, x1, x2, eq", 0x9a820020, OPERATION_CONDITIONAL_MOVE, "x1 x2 flags",
	  "x0", "", "" },
	{ "cset x0, eq", 0x9a9f17e0, OPERATION_SET, "flags", "x0", "", "" },
	{ "ccmp x0, #1, #0, eq", 0xfa410800, OPERATION_LOGIC, "x0 flags", "flags", "",
	  "" },
	{ "clz x0, x1", 0xdac01020, OPERATION_BIT_SCAN, "x1", "x0", "", "" },
	{ "rev x0, x1", 0xdac00c20, OPERATION_SWAP_BYTES, "x1", "x0", "", "" },
	{ "mul w0, w1, w2", 0x1b027c20, OPERATION_MULTIPLY, "x1 x2", "x0", "", "" },
	{ "madd x0, x1, x2, x3", 0x9b020c20, OPERATION_MULTIPLY_WIDE, "x1 x2 x3", "x0",
	  "", "" },
	{ "umull x0, w1, w2", 0x9ba27c20, OPERATION_MULTIPLY, "x1 x2", "x0", "", "" },
	{ "umulh x0, x1, x2", 0x9bc27c20, OPERATION_MULTIPLY_WIDE, "x1 x2", "x0", "",
	  "" },
	{ "udiv w0, w1, w2", 0x1ac20820, OPERATION_DIVIDE_32, "x1 x2", "x0", "", "" },
	{ "sdiv x0, x1, x2", 0x9ac20c20, OPERATION_DIVIDE_64, "x1 x2", "x0", "", "" },
	{ "crc32x w0, w1, x2", 0x9ac24c20, OPERATION_CHECKSUM, "x1 x2", "x0", "", "" },
	{ "b .", 0x14000000, OPERATION_JUMP, "", "", "", "" },
	{ "b.ne .", 0x54000001, OPERATION_BRANCH, "flags", "", "", "" },
	{ "cbnz x3, .", 0xb5000003, OPERATION_BRANCH, "x3", "", "", "" },
	{ "tbz w3, #1, .", 0x36080003, OPERATION_BRANCH, "x3", "", "", "" },
	{ "br x3", 0xd61f0060, OPERATION_JUMP_INDIRECT, "x3", "", "", "" },
	{ "bl .", 0x94000000, OPERATION_CALL, "", "x30", "", "" },
	{ "blr x3", 0xd63f0060, OPERATION_CALL_INDIRECT, "x3", "x30", "", "" },
	{ "ret", 0xd65f03c0, OPERATION_RETURN, "x30", "", "", "" },
	{ "svc #0", 0xd4000001, OPERATION_SYSTEM, "", "", "", "" },
	{ "nop", 0xd503201f, OPERATION_NOP, "", "", "", "" },
	{ "paciasp", 0xd503233f, OPERATION_NOP, "", "", "", "" },
	{ "bti c", 0xd503245f, OPERATION_NOP, "", "", "", "" },
	{ "dmb ish", 0xd5033bbf, OPERATION_FENCE, "", "", "", "" },
	{ "isb", 0xd5033fdf, OPERATION_SERIALIZE, "", "", "", "" },
	{ "mrs x0, tpidr_el0", 0xd53bd040, OPERATION_OTHER, "", "x0", "", "" },
	{ "ldr x0, [x1, #8]", 0xf9400420, OPERATION_MOVE, "", "x0", "x1", " loads" },
	{ "ldrb w0, [x1, x2]", 0x38626820, OPERATION_MOVE, "", "x0", "x1 x2", " loads" },
	{ "ldr w0, [x1, w2, sxtw #2]", 0xb862d820, OPERATION_MOVE, "", "x0", "x1 x2",
	  " loads" },
	{ "ldr x0, [x1], #8", 0xf8408420, OPERATION_MOVE, "", "x0 x1", "x1",
	  " loads moves" },
	{ "str x0, [sp, #-16]!", 0xf81f0fe0, OPERATION_MOVE, "x0", "sp", "sp",
	  " stores moves" },
	{ "str xzr, [x1]", 0xf900003f, OPERATION_MOVE, "", "", "x1", " stores" },
	{ "ldur x0, [x1, #-8]", 0xf85f8020, OPERATION_MOVE, "", "x0", "x1", " loads" },
	{ "ldp x0, x2, [sp, #16]", 0xa9410be0, OPERATION_MOVE, "", "x0 x2", "sp",
	  " loads" },
	{ "stp x29, x30, [sp, #-16]!", 0xa9bf7bfd, OPERATION_MOVE, "x29 x30", "sp", "sp",
	  " stores moves" },
	{ "stp q0, q1, [x2]", 0xad000440, OPERATION_VECTOR_MOVE, "v0 v1", "", "x2",
	  " stores" },
	{ "ldr d0, [x1]", 0xfd400020, OPERATION_VECTOR_MOVE, "", "v0", "x1", " loads" },
	{ "str q0, [x1, x2]", 0x3ca26820, OPERATION_VECTOR_MOVE, "v0", "", "x1 x2",
	  " stores" },
	{ "ldr x0, .+8", 0x58000040, OPERATION_MOVE, "", "x0", "", " loads" },
	{ "ld1 {v31.16b, v0.16b}, [x1], #32", 0x4cdfa03f, OPERATION_VECTOR_MOVE, "",
	  "x1 v0 v31", "x1", " loads moves" },
	{ "ld1 {v2.16b}, [x1], x3", 0x4cc37022, OPERATION_VECTOR_MOVE, "x3", "x1 v2",
	  "x1", " loads moves" },
	{ "st4 {v0.16b-v3.16b}, [x1]", 0x4c000020, OPERATION_SHUFFLE, "v0 v1 v2 v3", "",
	  "x1", " stores" },
	{ "ld1 {v0.s}[1], [x1]", 0x0d409020, OPERATION_VECTOR_BLEND, "v0", "v0", "x1",
	  " loads" },
	{ "ld1r {v0.4s}, [x1]", 0x4d40c820, OPERATION_VECTOR_MOVE, "", "v0", "x1",
	  " loads" },
	{ "ldar x0, [x1]", 0xc8dffc20, OPERATION_MOVE, "", "x0", "x1", " loads" },
	{ "stlr x0, [x1]", 0xc89ffc20, OPERATION_MOVE, "x0", "", "x1", " stores" },
	{ "ldaxr x0, [x1]", 0xc85ffc20, OPERATION_MOVE, "", "x0", "x1", " loads" },
	{ "stlxr w3, x0, [x1]", 0xc803fc20, OPERATION_ATOMIC, "x0", "x3", "x1",
	  " stores" },
	{ "ldadd x0, x1, [x2]", 0xf8200041, OPERATION_ATOMIC, "x0", "x1", "x2",
	  " loads stores" },
	{ "cas x0, x1, [x2]", 0xc8a07c41, OPERATION_ATOMIC, "x0 x1", "x0", "x2",
	  " loads stores" },
	{ "prfm pldl1keep, [x0]", 0xf9800000, OPERATION_PREFETCH, "", "", "", "" },
	{ "fadd d0, d1, d2", 0x1e622820, OPERATION_FP_ADD, "v1 v2", "v0", "", "" },
	{ "fmadd d0, d1, d2, d3", 0x1f420c20, OPERATION_FP_FUSED, "v1 v2 v3", "v0", "",
	  "" },
	{ "fmul d1, d1, d3", 0x1e630821, OPERATION_FP_MULTIPLY, "v1 v3", "v1", "", "" },
	{ "fdiv s0, s1, s2", 0x1e221820, OPERATION_FP_DIVIDE_SINGLE, "v1 v2", "v0", "",
	  "" },
	{ "fdiv d0, d1, d2", 0x1e621820, OPERATION_FP_DIVIDE_DOUBLE, "v1 v2", "v0", "",
	  "" },
	{ "fsqrt d0, d1", 0x1e61c020, OPERATION_FP_ROOT_DOUBLE, "v1", "v0", "", "" },
	{ "fcmp d0, d1", 0x1e612000, OPERATION_FP_COMPARE, "v0 v1", "flags", "", "" },
	{ "fcmp d0, #0.0", 0x1e602008, OPERATION_FP_COMPARE, "v0", "flags", "", "" },
	{ "fcsel d0, d1, d2, eq", 0x1e620c20, OPERATION_VECTOR_BLEND, "v1 v2 flags", "v0",
	  "", "" },
	{ "fmov d0, x1", 0x9e670020, OPERATION_GENERAL_TO_VECTOR, "x1", "v0", "", "" },
	{ "fmov x0, d1", 0x9e660020, OPERATION_VECTOR_TO_GENERAL, "v1", "x0", "", "" },
	{ "fmov d0, #1.0", 0x1e6e1000, OPERATION_VECTOR_MOVE, "", "v0", "", "" },
	{ "fcvt d0, s1", 0x1e22c020, OPERATION_CONVERT, "v1", "v0", "", "" },
	{ "fcvtzs x0, d1", 0x9e780020, OPERATION_CONVERT_TO_GENERAL, "v1", "x0", "", "" },
	{ "scvtf d0, w1", 0x1e620020, OPERATION_CONVERT_FROM_GENERAL, "x1", "v0", "",
	  "" },
	{ "scvtf d0, d1", 0x5e61d820, OPERATION_CONVERT, "v1", "v0", "", "" },
	{ "frintm d0, d1", 0x1e654020, OPERATION_FP_ROUND, "v1", "v0", "", "" },
	{ "fmla v0.2d, v1.2d, v2.2d", 0x4e62cc20, OPERATION_FP_FUSED, "v0 v1 v2", "v0",
	  "", "" },
	{ "fmla v0.2d, v1.2d, v2.d[1]", 0x4fc21820, OPERATION_FP_FUSED, "v0 v1 v2", "v0",
	  "", "" },
	{ "fdiv v0.4s, v1.4s, v2.4s", 0x6e22fc20, OPERATION_FP_DIVIDE_SINGLE, "v1 v2",
	  "v0", "", "" },
	{ "fsqrt v0.2d, v1.2d", 0x6ee1f820, OPERATION_FP_ROOT_DOUBLE, "v1", "v0", "",
	  "" },
	{ "movi v0.4s, #0", 0x4f000400, OPERATION_VECTOR_MOVE, "", "v0", "", "" },
	{ "orr v0.4s, #1", 0x4f001420, OPERATION_VECTOR_LOGIC, "v0", "v0", "", "" },
	{ "mov v0.16b, v1.16b", 0x4ea11c20, OPERATION_VECTOR_MOVE, "v1", "v0", "", "" },
	{ "eor v0.16b, v1.16b, v2.16b", 0x6e221c20, OPERATION_VECTOR_LOGIC, "v1 v2", "v0",
	  "", "" },
	{ "bsl v0.16b, v1.16b, v2.16b", 0x6e621c20, OPERATION_VECTOR_BLEND, "v0 v1 v2",
	  "v0", "", "" },
	{ "add v0.4s, v1.4s, v2.4s", 0x4ea28420, OPERATION_VECTOR_ADD, "v1 v2", "v0", "",
	  "" },
	{ "cmeq v0.16b, v1.16b, #0", 0x4e209820, OPERATION_VECTOR_ADD, "v1", "v0", "",
	  "" },
	{ "mla v0.4s, v1.4s, v2.4s", 0x4ea29420, OPERATION_VECTOR_MULTIPLY_32, "v0 v1 v2",
	  "v0", "", "" },
	{ "mul v0.8h, v1.8h, v7.h[7]", 0x4f778820, OPERATION_VECTOR_MULTIPLY, "v1 v7",
	  "v0", "", "" },
	{ "smull v0.4s, v1.4h, v2.4h", 0x0e62c020, OPERATION_VECTOR_MULTIPLY, "v1 v2",
	  "v0", "", "" },
	{ "ushr v0.4s, v1.4s, #3", 0x6f3d0420, OPERATION_VECTOR_SHIFT, "v1", "v0", "",
	  "" },
	{ "ssra v0.4s, v1.4s, #3", 0x4f3d1420, OPERATION_VECTOR_MULTIPLY, "v0 v1", "v0",
	  "", "" },
	{ "uxtl v0.8h, v1.8b", 0x2f08a420, OPERATION_VECTOR_SHIFT, "v1", "v0", "", "" },
	{ "zip1 v0.4s, v1.4s, v2.4s", 0x4e823820, OPERATION_SHUFFLE, "v1 v2", "v0", "",
	  "" },
	{ "tbl v0.16b, {v1.16b}, v2.16b", 0x4e020020, OPERATION_SHUFFLE_BYTES, "v1 v2",
	  "v0", "", "" },
	{ "dup v0.4s, w1", 0x4e040c20, OPERATION_GENERAL_TO_VECTOR, "x1", "v0", "", "" },
	{ "mov v0.s[1], w1", 0x4e0c1c20, OPERATION_VECTOR_INSERT, "x1 v0", "v0", "", "" },
	{ "umov w0, v1.s[1]", 0x0e0c3c20, OPERATION_VECTOR_EXTRACT, "v1", "x0", "", "" },
	{ "addv s0, v1.4s", 0x4eb1b820, OPERATION_VECTOR_HORIZONTAL, "v1", "v0", "", "" },
	{ "aese v0.16b, v1.16b", 0x4e284820, OPERATION_AES, "v0 v1", "v0", "", "" },
	{ "pmull v0.1q, v1.1d, v2.1d", 0x0ee2e020, OPERATION_CARRYLESS, "v1 v2", "v0", "",
	  "" },
};

static void assert_registers(operation_registers registers, const char *expected,
			     const char *of)
{
	char text[256];

	name_registers(registers, text, sizeof(text));
	if (strcmp(text, expected) != 0)
		print_error("# %s: '%s' instead of '%s'\n", of, text, expected);
	assert_string_equal(text, expected);
}

static void instructions_are_told_by_class_registers_and_memory(void **state)
{
	struct operation o;
	char does[64];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!read_at(known[i].word, 0x1000, &o))
			fail_msg("%s is not read", known[i].text);
		assert_int_equal(o.size, 4);
		if (o.class != known[i].class)
			print_error("# %s: %s\n", known[i].text,
				    operation_class_text(o.class));
		assert_int_equal(o.class, known[i].class);
		assert_registers(o.reads, known[i].reads, known[i].text);
		assert_registers(o.writes, known[i].writes, known[i].text);
		assert_registers(o.address, known[i].address, known[i].text);
		snprintf(does, sizeof(does), "%s%s%s%s", o.loads ? " loads" : "",
			 o.stores ? " stores" : "", o.moves_base ? " moves" : "",
			 o.may_fuse_with_branch ? " fuses" : "");
		assert_string_equal(does, known[i].does);
	}
}

static void sums_of_a_register_and_a_constant_are_told(void **state)
{
	static const struct {
		uint32_t word;
		unsigned to, from;
		int64_t offset;
	} t[] = {
		{ 0x91002020, 0, 1, 8 },     /* add x0, x1, #8 */
		{ 0x91400420, 0, 1, 4096 },  /* add x0, x1, #1, lsl #12 */
		{ 0xd10083ff, 31, 31, -32 }, /* sub sp, sp, #32 */
		{ 0x910003fd, 29, 31, 0 },   /* mov x29, sp */
		{ 0xaa0103e0, 0, 1, 0 },     /* mov x0, x1 */
		{ 0xf8408420, 1, 1, 8 },     /* ldr x0, [x1], #8 */
		{ 0xa9bf7bfd, 31, 31, -16 }, /* stp x29, x30, [sp, #-16]! */
		{ 0x11002020, 0, 0xff, 0 },  /* add w0, w1, #8 */
		{ 0x2a0103e0, 0, 0xff, 0 },  /* mov w0, w1 */
		{ 0xaa1f03e0, 0, 0xff, 0 },  /* mov x0, xzr */
		{ 0x8b020020, 0, 0xff, 0 },  /* add x0, x1, x2 */
		{ 0xf9400420, 0, 0xff, 0 },  /* ldr x0, [x1, #8] */
		{ 0x0ddf9020, 1, 1, 4 },     /* ld1 {v0.s}[1], [x1], #4 */
		{ 0x0ddf0c20, 1, 1, 1 },     /* ld1 {v0.b}[3], [x1], #1 */
		{ 0x4ddf8420, 1, 1, 8 },     /* ld1 {v0.d}[1], [x1], #8 */
		{ 0x4ddfc820, 1, 1, 4 },     /* ld1r {v0.4s}, [x1], #4 */
		{ 0x0d9f5020, 1, 1, 2 },     /* st1 {v0.h}[2], [x1], #2 */
		{ 0x4ddfe420, 1, 1, 6 },     /* ld3r {v0.8h-v2.8h}, [x1], #6 */
		{ 0x4dffa420, 1, 1, 32 },    /* ld4 {v0.d-v3.d}[1], [x1], #32 */
		{ 0x0da2b020, 0, 0xff, 0 },  /* st4 {v0.s-v3.s}[1], [x1], x2 */
	};
	struct operation o;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_true(read_at(t[i].word, 0, &o));
		assert_int_equal(o.from, t[i].from);
		if (o.from == OPERATION_NO_REG)
			continue;
		assert_int_equal(o.to, t[i].to);
		assert_int_equal(o.offset, t[i].offset);
	}
}

static void memory_operands_are_told(void **state)
{
	static const struct {
		uint32_t word;
		int64_t disp;
		unsigned base, index, scale, width;
		bool is_in_frame;
	} t[] = {
		{ 0xf9400420, 8, 1, 0xff, 0, 8, false },  /* ldr x0, [x1, #8] */
		{ 0xf85f8020, -8, 1, 0xff, 0, 8, false }, /* ldur x0, [x1, #-8] */
		{ 0xf8627820, 0, 1, 2, 8, 8, false },	  /* ldr x0, [x1, x2, lsl #3] */
		{ 0x38626820, 0, 1, 2, 1, 1, false },	  /* ldrb w0, [x1, x2] */
		{ 0xa9bf7bfd, -16, 31, 0xff, 0, 16,
		  true },				   /* stp x29, x30, [sp, #-16]! */
		{ 0xf8408420, 0, 1, 0xff, 0, 8, false },   /* ldr x0, [x1], #8 */
		{ 0xad000440, 0, 2, 0xff, 0, 32, false },  /* stp q0, q1, [x2] */
		{ 0x3dc00420, 16, 1, 0xff, 0, 16, false }, /* ldr q0, [x1, #16] */
		{ 0x58000040, 0x1008, 0xff, 0xff, 0, 8, false }, /* ldr x0, .+8 */
		{ 0x0ddf9020, 0, 1, 0xff, 0, 4, false }, /* ld1 {v0.s}[1], [x1], #4 */
		{ 0x0ddf0c20, 0, 1, 0xff, 0, 1, false }, /* ld1 {v0.b}[3], [x1], #1 */
		{ 0x0d405020, 0, 1, 0xff, 0, 2, false }, /* ld1 {v0.h}[2], [x1] */
		{ 0x4ddf8420, 0, 1, 0xff, 0, 8, false }, /* ld1 {v0.d}[1], [x1], #8 */
		{ 0x4ddfc020, 0, 1, 0xff, 0, 1, false }, /* ld1r {v0.16b}, [x1], #1 */
		{ 0x4ddfcc20, 0, 1, 0xff, 0, 8, false }, /* ld1r {v0.2d}, [x1], #8 */
		{ 0x4d009020, 0, 1, 0xff, 0, 4, false }, /* st1 {v0.s}[3], [x1] */
		{ 0x0dff0820, 0, 1, 0xff, 0, 2,
		  false }, /* ld2 {v0.b-v1.b}[2], [x1], #2 */
		{ 0x4cdfa03f, 0, 1, 0xff, 0, 32,
		  false }, /* ld1 {v31.16b, v0.16b}, [x1], #32 */
	};
	struct operation o;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_true(read_at(t[i].word, 0x1000, &o));
		assert_true(o.has_memory);
		assert_int_equal(o.disp, t[i].disp);
		assert_int_equal(o.base, t[i].base);
		assert_int_equal(o.index, t[i].index);
		assert_int_equal(o.scale, t[i].scale);
		assert_int_equal(o.width, t[i].width);
		assert_int_equal(o.is_in_frame, t[i].is_in_frame);
	}
}

static void what_is_no_instruction_is_refused(void **state)
{
	struct operation o;

	(void)state;
	assert_false(read_at(0, 0, &o)); /* udf */
	assert_false(read_at(0xffff, 0, &o));
	assert_false(operation_read(reader, (const uint8_t *)"\x20\x20", 2, 0, &o));
}

static uint32_t next_word(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 32);
}

/* The disassembler knows what an instruction is, and mostly its name. */
static void what_others_read_is_read(void **state)
{
	uint64_t seed = 1;
	csh handle;
	unsigned n = 0, n_unread = 0;

	(void)state;
	assert_int_equal(cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle),
			 CS_ERR_OK);
	for (unsigned i = 0; i < 200000; i++) {
		uint32_t word = next_word(&seed);
		const uint8_t code[4] = { (uint8_t)word, (uint8_t)(word >> 8),
					  (uint8_t)(word >> 16), (uint8_t)(word >> 24) };
		struct operation o;
		cs_insn *in;

		if (cs_disasm(handle, code, sizeof(code), 0, 1, &in) != 1)
			continue;
		n++;
		if (!read_at(word, 0, &o)) {
			n_unread++;
			print_error("# %08x: %s %s\n", word, in->mnemonic, in->op_str);
		}
		cs_free(in, 1);
	}
	cs_close(&handle);
	assert_true(n > 20000);
	assert_int_equal(n_unread, 0);
}

/* Whatever is read costs something on every machine that may execute it. */
static void every_model_knows_what_is_read(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 300000; i++) {
		struct operation o;

		if (!read_at(next_word(&seed), 0, &o) || o.class == OPERATION_NOP ||
		    o.class == OPERATION_PREFETCH)
			continue;
		for (size_t k = 0; k < machine_model_count(); k++) {
			const struct machine_model *m = machine_model_at(k);

			if (m->machine != EM_AARCH64 || m->costs[o.class].units[0].ports)
				continue;
			fail_msg("%s: %s", m->name, operation_class_text(o.class));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_told_by_class_registers_and_memory),
		cmocka_unit_test(sums_of_a_register_and_a_constant_are_told),
		cmocka_unit_test(memory_operands_are_told),
		cmocka_unit_test(what_is_no_instruction_is_refused),
		cmocka_unit_test(what_others_read_is_read),
		cmocka_unit_test(every_model_knows_what_is_read),
	};

	return cmocka_run_group_tests(tests, make_reader, free_reader);
}
