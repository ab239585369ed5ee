/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "unwind/step.h"

static void a_signed_return_address_is_stripped(void **state)
{
	uint64_t stack[4] = { 0x7000, UINT64_C(0x12ab000000004444), 0, 0 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6000, sizeof(stack), NULL,
				  NULL };
	struct cfa_row row = { .kind = CFA_ROW_BASE, .reg = 31, .offset = 32 };
	struct unwind_regs g = { .arch = UNWIND_AARCH64,
				 .valid = abi_bit(31) | abi_bit(32) };
	struct step s;

	(void)state;
	memset(row.save, CFA_ROW_SAME, sizeof(row.save));
	row.save[0] = 1;
	row.save[1] = 0;
	g.r[31] = 0x6000;
	assert_int_equal(step_row(&abi_aarch64, &row, &g, &m, &s), STEP_RETURN);
	assert_int_equal(g.r[UNWIND_AARCH64_PC], 0x4444);
	assert_int_equal(g.r[UNWIND_AARCH64_SP], 0x6020);
	assert_int_equal(g.r[UNWIND_AARCH64_FP], 0x7000);
}

static void a_leaf_returns_by_its_link_register_once(void **state)
{
	struct stack_memory m = { .addr = 0x6000 };
	struct cfa_row row = { .kind = CFA_ROW_BASE, .reg = 31 };
	struct unwind_regs g = { .arch = UNWIND_AARCH64,
				 .valid = abi_bit(30) | abi_bit(31) | abi_bit(32) };
	struct step s;

	(void)state;
	memset(row.save, CFA_ROW_SAME, sizeof(row.save));
	g.r[30] = 0x4444;
	g.r[31] = 0x6000;
	assert_int_equal(step_row(&abi_aarch64, &row, &g, &m, &s), STEP_RETURN);
	assert_int_equal(g.r[UNWIND_AARCH64_PC], 0x4444);
	assert_int_equal(step_row(&abi_aarch64, &row, &g, &m, &s), STEP_STOP);
	assert_int_equal(s.stop, UNWIND_NO_PROGRESS);
}

/* Of a frame whose return address is at sp, with rbp saved at so many words from the CFA.
 */
static struct cfa_row popped_row(int8_t fp_slot)
{
	struct cfa_row row = { .kind = CFA_ROW_CFA, .reg = 7, .offset = 8 };

	memset(row.save, CFA_ROW_SAME, sizeof(row.save));
	row.save[0] = -1;
	row.save[1] = fp_slot;
	return row;
}

static void a_register_below_sp_is_read_within_the_red_zone(void **state)
{
	uint64_t stack[40] = { [16] = 0x4444, [15] = 0x1111 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6000, sizeof(stack), NULL,
				  NULL };
	struct cfa_row row = popped_row(-2); /* an epilogue behind `pop %rbp` */
	struct unwind_regs g = { .valid = 0x1ffff };
	struct step s;

	(void)state;
	g.r[7] = 0x6080;
	assert_int_equal(step_row(&abi_x86_64, &row, &g, &m, &s), STEP_RETURN);
	assert_int_equal(g.r[UNWIND_X86_64_PC], 0x4444);
	assert_int_equal(g.r[UNWIND_X86_64_RBP], 0x1111);
	row = popped_row(-20); /* beyond it: clobbered */
	g.r[7] = 0x6080;
	assert_int_equal(step_row(&abi_x86_64, &row, &g, &m, &s), STEP_RETURN);
	assert_false(g.valid & abi_bit(UNWIND_X86_64_RBP));
}

static void a_popped_register_is_kept_when_the_copy_starts_at_sp(void **state)
{
	uint64_t stack[4] = { 0x4444 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6080, sizeof(stack), NULL,
				  NULL };
	struct cfa_row row = popped_row(-2);
	struct unwind_regs g = { .valid = 0x1ffff };
	struct step s;

	(void)state;
	g.r[7] = 0x6080;
	g.r[UNWIND_X86_64_RBP] = 0x1111;
	assert_int_equal(step_row(&abi_x86_64, &row, &g, &m, &s), STEP_RETURN);
	assert_int_equal(g.r[UNWIND_X86_64_RBP], 0x1111);
	assert_true(g.valid & abi_bit(UNWIND_X86_64_RBP));
}

/* What the fast way gives, the full one gives, and for every register. */
static void all_popped_registers_are_kept_by_the_full_rules(void **state)
{
	static const uint8_t at_base[] = { 0x76, 0x70 }; /* rbp - 16 */
	uint64_t stack[4] = { 0x4444 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6080, sizeof(stack), NULL,
				  NULL };
	struct cfi_section section = { .bytes = at_base, .size = sizeof(at_base) };
	struct cfi_fde fde = { .ra = 16 };
	struct cfa_rules rules = { .cfa = {
					   .kind = CFA_REGISTER, .reg = 7, .value = 8 } };
	struct unwind_regs g = { .valid = 0x1ffff };
	struct step s;

	(void)state;
	rules.reg[16] = (struct cfa_rule){ .kind = CFA_AT, .value = -8 };
	rules.reg[6] = (struct cfa_rule){ .kind = CFA_AT_EXPR, .expr_size = 2 };
	rules.reg[3] = (struct cfa_rule){ .kind = CFA_AT, .value = -16 };
	rules.reg[12] = (struct cfa_rule){ .kind = CFA_AT, .value = -160 };
	g.r[7] = 0x6080;
	g.r[6] = 0x6078;
	g.r[3] = 0x3333;
	g.r[12] = 0xcccc;
	assert_int_equal(step_rules(&abi_x86_64, &section, &fde, &rules, &g, &m, &s),
			 STEP_RETURN);
	assert_int_equal(g.r[UNWIND_X86_64_PC], 0x4444);
	assert_int_equal(g.r[6], 0x6078);
	assert_int_equal(g.r[3], 0x3333);
	assert_true(g.valid & abi_bit(6) && g.valid & abi_bit(3));
	assert_false(g.valid & abi_bit(12)); /* beyond the red zone: gone */
}

/* A frame of 16 bytes at sp, then one whose CFA is rax + 8, as OpenSSL's are. */
static void a_register_that_calls_may_destroy_is_presumed_to_be_spared(void **state)
{
	uint64_t stack[8] = { [1] = 0x4444, [5] = 0x5555 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6000, sizeof(stack), NULL,
				  NULL };
	struct cfi_section section = { 0 };
	struct cfi_fde fde = { .ra = 16 };
	struct cfa_rules inner = {
		.cfa = { .kind = CFA_REGISTER, .reg = 7, .value = 16 }
	};
	struct cfa_rules outer = { .cfa = {
					   .kind = CFA_REGISTER, .reg = 0, .value = 8 } };
	struct unwind_regs g = { .valid = 0x1ffff };
	struct step s;

	(void)state;
	inner.reg[16] = outer.reg[16] = (struct cfa_rule){ .kind = CFA_AT, .value = -8 };
	g.r[7] = 0x6000;
	g.r[0] = 0x6028;
	assert_int_equal(step_rules(&abi_x86_64, &section, &fde, &inner, &g, &m, &s),
			 STEP_RETURN);
	assert_false(s.is_presumed);
	assert_false(g.valid & abi_bit(0));
	assert_int_equal(g.r[7], 0x6010);
	assert_int_equal(step_rules(&abi_x86_64, &section, &fde, &outer, &g, &m, &s),
			 STEP_RETURN);
	assert_true(s.is_presumed); /* the walk must check the new pc */
	assert_int_equal(g.r[UNWIND_X86_64_PC], 0x5555);
	assert_int_equal(g.r[7], 0x6030);
	/* nowhere known: no frame is made up */
	g.valid = abi_bit(7) | abi_bit(16);
	assert_int_equal(step_rules(&abi_x86_64, &section, &fde, &outer, &g, &m, &s),
			 STEP_NEEDS_ALL);
}

/* A stack of eight words at 0x6000, and all registers known. */
static const uint64_t words[8] = { 0x6020, 0x4444, 0x1111, 0x2222, 0x3333, 0x5555 };
static const struct stack_memory word_memory = { (const uint8_t *)words, 0x6000,
						 sizeof(words), NULL, NULL };

static struct unwind_regs all_known(void)
{
	struct unwind_regs g = { .valid = 0x1ffff };

	for (unsigned i = 0; i <= 16; i++)
		g.r[i] = 0xa0 + i;
	g.r[7] = 0x6000;
	return g;
}

static void every_rule_gives_its_value(void **state)
{
	static const uint8_t at[] = { 0x77, 0x18 }; /* rsp + 24 */
	static const struct {
		struct cfa_rule rule;
		bool is_known;
		uint64_t value;
	} t[] = {
		{ { .kind = CFA_SAME }, true, 0xa3 },
		{ { .kind = CFA_UNDEFINED }, false, 0 },
		{ { .kind = CFA_REGISTER, .reg = 12 }, true, 0xac },
		{ { .kind = CFA_AT, .value = -16 }, true, 0x1111 },
		{ { .kind = CFA_AT, .value = 4096 }, false, 0 }, /* not copied */
		{ { .kind = CFA_IS, .value = -16 }, true, 0x6010 },
		{ { .kind = CFA_AT_EXPR, .expr_size = 2 }, true, 0x2222 },
		{ { .kind = CFA_IS_EXPR, .expr_size = 2 }, true, 0x6018 },
	};
	struct cfi_section section = { .bytes = at, .size = sizeof(at) };
	struct cfi_fde fde = { .ra = 16 };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cfa_rules rules = {
			.cfa = { .kind = CFA_REGISTER, .reg = 7, .value = 32 }
		};
		struct unwind_regs g = all_known();
		struct step s;

		rules.reg[16] = (struct cfa_rule){ .kind = CFA_AT, .value = -24 };
		rules.reg[3] = t[i].rule;
		assert_int_equal(step_rules(&abi_x86_64, &section, &fde, &rules, &g,
					    &word_memory, &s),
				 STEP_RETURN);
		assert_int_equal(g.r[16], 0x4444);
		assert_int_equal(!!(g.valid & abi_bit(3)), t[i].is_known);
		if (t[i].is_known)
			assert_int_equal(g.r[3], t[i].value);
	}
}

static void rules_that_cannot_be_followed_stop_the_walk(void **state)
{
	static const uint8_t bad[] = { 0x22 }, far[] = { 0x30, 0x06 };
	static const struct {
		const uint8_t *expression;
		uint8_t size;
		struct cfa_rule cfa, ra;
		enum unwind_stop stop;
	} t[] = {
		{ NULL, 0, { .kind = CFA_SAME }, { .kind = CFA_AT }, UNWIND_BAD_RULE },
		{ bad, 1, { .kind = CFA_IS_EXPR }, { .kind = CFA_AT }, UNWIND_BAD_RULE },
		{ far,
		  2,
		  { .kind = CFA_IS_EXPR },
		  { .kind = CFA_AT },
		  UNWIND_BAD_MEMORY },
		{ NULL,
		  0,
		  { .kind = CFA_REGISTER, .reg = 7, .value = 12 }, /* not a multiple */
		  { .kind = CFA_AT, .value = -12 },
		  UNWIND_BAD_RULE },
		{ NULL,
		  0,
		  { .kind = CFA_REGISTER, .reg = 7, .value = 0 },
		  { .kind = CFA_AT, .value = 8 },
		  UNWIND_NO_PROGRESS },
		{ NULL,
		  0,
		  { .kind = CFA_REGISTER, .reg = 7, .value = 4096 },
		  { .kind = CFA_AT, .value = -8 },
		  UNWIND_BAD_MEMORY },
		{ NULL,
		  0,
		  { .kind = CFA_REGISTER, .reg = 7, .value = 16 },
		  { .kind = CFA_UNDEFINED },
		  UNWIND_END },
	};
	struct cfi_fde fde = { .ra = 16 };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cfi_section section = { .bytes = t[i].expression,
					       .size = t[i].size };
		struct cfa_rules rules = { .cfa = t[i].cfa };
		struct unwind_regs g = all_known();
		struct step s = { 0 };

		rules.cfa.expr_size = t[i].size;
		rules.reg[16] = t[i].ra;
		assert_int_equal(step_rules(&abi_x86_64, &section, &fde, &rules, &g,
					    &word_memory, &s),
				 STEP_STOP);
		assert_int_equal(s.stop, t[i].stop);
	}
}

/* The frames of main() and of what realigns its stack: CFA = *(rbp - 8). */
static void a_cfa_in_memory_is_read_from_there(void **state)
{
	struct cfa_row row = { .kind = CFA_ROW_INDIRECT, .reg = 6, .offset = -8 };
	struct unwind_regs g = all_known();
	struct step s;

	(void)state;
	memset(row.save, CFA_ROW_SAME, sizeof(row.save));
	row.save[0] = -1;
	row.save[1] = 1;
	g.r[6] = 0x6008;
	assert_int_equal(step_row(&abi_x86_64, &row, &g, &word_memory, &s), STEP_RETURN);
	assert_int_equal(g.r[7], 0x6020);
	assert_int_equal(g.r[16], 0x2222); /* at CFA - 8 */
	assert_int_equal(g.r[6], 0x1111);  /* at rbp + 8 */
	assert_int_equal(s.cfa_slot, 0x6000);
	g = all_known();
	g.r[6] = 0x9000;
	assert_int_equal(step_row(&abi_x86_64, &row, &g, &word_memory, &s), STEP_STOP);
	assert_int_equal(s.stop, UNWIND_BAD_MEMORY);
	assert_int_equal(s.fault, 0x9000 - 8);
}

static void a_plt_stub_has_pushed_a_word_from_its_second_part_on(void **state)
{
	static const struct {
		uint64_t pc, sp, caller;
	} t[] = { { 0x100a, 0x6008, 0x6020 }, { 0x100b, 0x6010, 0x4444 } };
	struct cfa_row row = { .kind = CFA_ROW_PLT, .reg = 7, .offset = 11 };

	(void)state;
	memset(row.save, CFA_ROW_SAME, sizeof(row.save));
	row.save[0] = -1;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct unwind_regs g = all_known();
		struct step s;

		g.r[16] = t[i].pc;
		assert_int_equal(step_row(&abi_x86_64, &row, &g, &word_memory, &s),
				 STEP_RETURN);
		assert_int_equal(g.r[7], t[i].sp);
		assert_int_equal(g.r[16], t[i].caller);
	}
}

/* Without rbp the fast way cannot go on, and leaves all as it was. */
static void a_register_not_carried_asks_for_all(void **state)
{
	struct cfa_row row = { .kind = CFA_ROW_CFA, .reg = 6, .offset = 16 };
	struct unwind_regs g = all_known(), before;
	struct step s;

	(void)state;
	memset(row.save, CFA_ROW_SAME, sizeof(row.save));
	row.save[0] = -1;
	g.valid &= ~abi_bit(6);
	before = g;
	assert_int_equal(step_row(&abi_x86_64, &row, &g, &word_memory, &s),
			 STEP_NEEDS_ALL);
	assert_memory_equal(&g, &before, sizeof(g));
}

static void a_cut_signal_frame_is_a_fault_and_tells_where(void **state)
{
	struct unwind_regs g = all_known();
	struct step s;

	(void)state;
	assert_int_equal(step_signal(&abi_x86_64, &g, &word_memory, &s), STEP_STOP);
	assert_int_equal(s.stop, UNWIND_BAD_MEMORY);
	assert_int_equal(s.fault, 0x6000 + abi_x86_64.context[7]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signed_return_address_is_stripped),
		cmocka_unit_test(a_leaf_returns_by_its_link_register_once),
		cmocka_unit_test(a_register_below_sp_is_read_within_the_red_zone),
		cmocka_unit_test(a_popped_register_is_kept_when_the_copy_starts_at_sp),
		cmocka_unit_test(all_popped_registers_are_kept_by_the_full_rules),
		cmocka_unit_test(
			a_register_that_calls_may_destroy_is_presumed_to_be_spared),
		cmocka_unit_test(every_rule_gives_its_value),
		cmocka_unit_test(rules_that_cannot_be_followed_stop_the_walk),
		cmocka_unit_test(a_cfa_in_memory_is_read_from_there),
		cmocka_unit_test(a_plt_stub_has_pushed_a_word_from_its_second_part_on),
		cmocka_unit_test(a_register_not_carried_asks_for_all),
		cmocka_unit_test(a_cut_signal_frame_is_a_fault_and_tells_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
