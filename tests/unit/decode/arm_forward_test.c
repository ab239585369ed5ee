/* SPDX-License-Identifier: Apache-2.0
 * What single instructions do is compared with processors by arm_forward_real_test. */
#include "decode/arm_forward.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define AT	   0x10000 /* the code */
#define STACK	   0x8000  /* sp, from where on memory is known: 0x80, 0x81, ... */
#define STACK_SIZE 128
#define CONSTANTS  0x10100 /* eight bytes: 0x70, 0x71, ... */
#define MAX_INSNS  12
#define RET	   0xd65f03c0

static unsigned read_code(void *ctx, uint64_t addr, uint8_t *to)
{
	const uint32_t *code = ctx;
	uint64_t at = addr - AT;

	if (at >= 4 * MAX_INSNS || !code[at / 4])
		return 0;
	memcpy(to, &code[at / 4], 4);
	return 4;
}

static bool read_bytes(uint64_t from, uint8_t first, unsigned size, uint64_t addr,
		       uint8_t *to, unsigned bytes)
{
	if (addr < from || addr > from + size - bytes)
		return false;
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (uint8_t)(first + addr - from + i);
	return true;
}

static bool read_stack(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	(void)ctx;
	return read_bytes(STACK, 0x80, STACK_SIZE, addr, to, bytes);
}

static bool read_constant(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	(void)ctx;
	return read_bytes(CONSTANTS, 0x70, 8, addr, to, bytes);
}

static const struct forward_limits far = { .n_insns = 100, .n_branches = 32 };

/* x0 is 0x1000, x1 0x2000 and so on, but x15 unknown; flags are clear. */
static void go_from(const struct forward_limits *limits, uint32_t known_flags,
		    const uint32_t *code, struct forward_path *ret)
{
	struct forward_state from = { .ip = AT,
				      .known_regs = 0xffff7fff,
				      .known_flags = known_flags };
	struct forward_source source = { read_code, read_stack, read_constant,
					 (void *)(uintptr_t)code };

	for (unsigned i = 0; i < FORWARD_N_REGS; i++)
		from.regs[i] = 0x1000 * (i + 1);
	from.regs[31] = STACK;
	arm_forward(&from, &source, limits, ret);
}

static void go(const uint32_t *code, struct forward_path *ret)
{
	go_from(&far, ARM_FORWARD_FLAGS, code, ret);
}

static void a_loop_is_followed_to_its_end(void **unused)
{
	static const uint32_t code[MAX_INSNS] = {
		0x52800060, /* mov w0, #3 */
		0x71000400, /* subs w0, w0, #1 */
		0x54ffffe1, /* b.ne -4 */
		0xd4000001, /* svc #0 */
	};
	static const enum forward_way ways[] = { FORWARD_TAKEN, FORWARD_TAKEN,
						 FORWARD_NOT_TAKEN };
	struct forward_path path;

	(void)unused;
	go(code, &path);
	assert_int_equal(path.n_branches, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(path.branches[i].addr, AT + 8);
		assert_int_equal(path.branches[i].kind, FORWARD_CONDITIONAL);
		assert_int_equal(path.branches[i].way, ways[i]);
	}
	assert_int_equal(path.branches[2].to, AT + 12);
	assert_int_equal(path.n_insns, 7);
	assert_int_equal(path.end, FORWARD_AT_KERNEL);
	assert_int_equal(path.last.regs[0], 0);
}

static void what_is_not_known_ends_it(void **unused)
{
	static const struct {
		uint32_t code[3], known_flags;
		enum forward_end end;
	} t[] = {
		{ { 0x54ffffe1 }, 0, FORWARD_AT_BRANCH }, /* b.ne */
		{ { 0x54ffffe1, RET }, 0xf0000000, FORWARD_AT_CODE },
		{ { 0xb400004f }, 0xf0000000, FORWARD_AT_BRANCH },    /* cbz x15 */
		{ { 0x37000040 | 15 }, 0, FORWARD_AT_BRANCH },	      /* tbnz w15 */
		{ { 0xd61f01e0 }, 0, FORWARD_AT_BRANCH },	      /* br x15 */
		{ { 0xf9400020, 0xb4000040 }, 0, FORWARD_AT_BRANCH }, /* ldr x0; cbz */
		{ { 0 }, 0, FORWARD_AT_CODE },
		{ { 0x00000001 }, 0, FORWARD_AT_STRANGER }, /* udf */
		{ { 0xd503245f }, 0, FORWARD_LIMIT },	    /* bti c, and no more */
	};
	struct forward_limits one = { .n_insns = 1, .n_branches = 1 };

	(void)unused;
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint32_t code[MAX_INSNS] = { 0 };
		struct forward_path path;

		memcpy(code, t[i].code, sizeof(t[i].code));
		go_from(t[i].end == FORWARD_LIMIT ? &one : &far, t[i].known_flags, code,
			&path);
		assert_int_equal(path.end, t[i].end);
	}
}

static void calls_come_back(void **unused)
{
	static const uint32_t code[MAX_INSNS] = {
		0xa9bf7bfd,    /* stp x29, x30, [sp, #-16]! */
		0x94000005,    /* bl +20 */
		0xa8c17bfd,    /* ldp x29, x30, [sp], #16 */
		0xd4000001,    /* svc #0 */
		0,	    0, /* */
		0xd2800541,    /* mov x1, #42 */
		RET,
	};
	static const struct forward_limits near = { .n_insns = 100,
						    .n_branches = 32,
						    .is_in_function = true };
	struct forward_path path;

	(void)unused;
	go(code, &path);
	assert_int_equal(path.end, FORWARD_AT_KERNEL);
	assert_int_equal(path.n_branches, 1);
	assert_int_equal(path.branches[0].kind, FORWARD_RETURN);
	assert_int_equal(path.branches[0].to, AT + 8);
	assert_int_equal(path.last.regs[1], 42);
	assert_int_equal(path.last.regs[30], 0x1f000);
	assert_int_equal(path.last.regs[31], STACK);
	go_from(&near, 0, code, &path);
	assert_int_equal(path.end, FORWARD_AT_CALL);
	assert_int_equal(path.n_branches, 0);
}

static void memory_is_what_it_was_until_it_is_stored_to(void **unused)
{
	static const uint32_t code[MAX_INSNS] = {
		0xf94007e1, /* ldr x1, [sp, #8] */
		0xb9000be0, /* str w0, [sp, #8] */
		0xf94007e2, /* ldr x2, [sp, #8] */
		0xf90001e0, /* str x0, [x15]: anywhere */
		0xf94007e3, /* ldr x3, [sp, #8] */
		0x58000764, /* ldr x4, CONSTANTS */
		0x12800005, /* mov w5, #-1 */
		0xd4000001, /* svc #0 */
	};
	struct forward_path path;

	(void)unused;
	go(code, &path);
	assert_int_equal(path.n_insns, 7);
	assert_int_equal(path.last.regs[1], 0x8f8e8d8c8b8a8988);
	assert_int_equal(path.last.regs[2], 0x8f8e8d8c00001000);
	assert_false(path.last.known_regs >> 3 & 1);
	assert_int_equal(path.last.regs[4], 0x7776757473727170);
	assert_int_equal(path.last.regs[5], UINT32_MAX);
}

static void accesses_are_told_but_those_of_the_frame(void **unused)
{
	static const uint32_t code[MAX_INSNS] = {
		0xf94007e1, /* ldr x1, [sp, #8] */
		0xf9000441, /* str x1, [x2, #8] */
		0xa8c11483, /* ldp x3, x5, [x4], #16 */
		0xf94001e5, /* ldr x5, [x15] */
		0xf9800040, /* prfm [x2] */
		0x58000764, /* ldr x4, CONSTANTS */
		0xf8200041, /* ldadd x0, x1, [x2] */
		0x4cdf7000, /* ld1 {v0.16b}, [x0], #16 */
		0xf8626be6, /* ldr x6, [sp, x2]: a table */
		0xd4000001, /* svc #0 */
	};
	static const struct forward_access told[] = {
		{ AT + 4, 0x3008 },	     { AT + 8, 0x5000 },  { AT + 12, 0 },
		{ AT + 20, CONSTANTS },	     { AT + 24, 0x3000 }, { AT + 28, 0x1000 },
		{ AT + 32, STACK + 0x3000 },
	};
	struct forward_path path;

	(void)unused;
	go(code, &path);
	assert_int_equal(path.n_accesses, sizeof(told) / sizeof(told[0]));
	for (unsigned i = 0; i < path.n_accesses; i++) {
		assert_int_equal(path.accesses[i].ip, told[i].ip);
		assert_int_equal(path.accesses[i].addr, told[i].addr);
	}
}

/* What is known in part may be enough. */
static void parts_of_numbers_decide(void **unused)
{
	static const struct {
		uint32_t code[3];
		enum forward_way way;
	} t[] = {
		/* and x15, x15, #1; cmp x15, #2; b.lo */
		{ { 0x924001ef, 0xf10009ff, 0x54000043 }, FORWARD_TAKEN },
		/* and x15, x15, #1; cmp x15, #2; b.eq */
		{ { 0x924001ef, 0xf10009ff, 0x54000040 }, FORWARD_NOT_TAKEN },
		/* orr x15, x15, #1; cmp x15, #0; b.ne */
		{ { 0xb24001ef, 0xf10001ff, 0x54000041 }, FORWARD_TAKEN },
		/* orr x15, x15, #1; lsl x15, x15, #3; tbnz w15, #3 */
		{ { 0xb24001ef, 0xd37df1ef, 0x3718004f }, FORWARD_TAKEN },
		/* and x15, x15, #1; sub x15, x15, #1; tbnz x15, #63: may be */
		{ { 0x924001ef, 0xd10005ef, 0xb7f800af }, FORWARD_UNKNOWN },
	};

	(void)unused;
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint32_t code[MAX_INSNS] = { 0 };
		struct forward_path path;

		memcpy(code, t[i].code, sizeof(t[i].code));
		go(code, &path);
		assert_int_equal(path.n_branches, 1);
		assert_int_equal(path.branches[0].way, t[i].way);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_is_followed_to_its_end),
		cmocka_unit_test(what_is_not_known_ends_it),
		cmocka_unit_test(calls_come_back),
		cmocka_unit_test(memory_is_what_it_was_until_it_is_stored_to),
		cmocka_unit_test(accesses_are_told_but_those_of_the_frame),
		cmocka_unit_test(parts_of_numbers_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
