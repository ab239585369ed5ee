/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "unwind/cfa_expr.h"
#include "unwind/cfa_row.h"
#include "unwind/eh_hdr.h"
#include "unwind/step.h"

#define ADDR 0x1000 /* of the section */
#define CODE 0x9000 /* of the function */

/* One CIE and one FDE of 0x100 bytes of code, assembled from their programs. */
struct table {
	uint8_t bytes[512];
	struct cfi_section section;
};

static size_t put(uint8_t *p, const char *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return n;
}

static void put_u32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

static void close_record(uint8_t *start, uint8_t *end)
{
	put_u32(start, (uint32_t)(end - start - 4));
}

static void assemble(struct table *t, enum unwind_arch arch, const char *letters,
		     const char *initial, size_t n_initial, const char *program, size_t n)
{
	bool is_arm = arch == UNWIND_AARCH64;
	uint8_t *p = t->bytes, *fde;

	memset(t, 0, sizeof(*t));
	p += 8; /* length, id 0 */
	*p++ = 1;
	p += put(p, letters, strlen(letters) + 1);
	*p++ = is_arm ? 4 : 1; /* code alignment */
	*p++ = 0x78;	       /* data alignment -8 */
	*p++ = is_arm ? 30 : 16;
	*p++ = 1;
	*p++ = 0x03; /* absolute, 4 bytes */
	p += put(p, initial, n_initial);
	close_record(t->bytes, p);
	fde = p;
	put_u32(p + 4, (uint32_t)(p + 4 - t->bytes));
	put_u32(p + 8, CODE);
	put_u32(p + 12, 0x100);
	p += 16;
	*p++ = 0; /* augmentation data */
	p += put(p, program, n);
	close_record(fde, p);
	t->section = (struct cfi_section){ .bytes = t->bytes,
					   .size = (size_t)(p - t->bytes) + 4,
					   .addr = ADDR,
					   .arch = arch };
}

#define ASSEMBLE(t, arch, letters, initial, program)                                     \
	assemble(t, arch, letters, initial, sizeof(initial) - 1, program,                \
		 sizeof(program) - 1)

static struct cfa_rules rules_at(const struct table *t, uint64_t pc, struct cfi_fde *fde)
{
	struct cfa_rules rules;

	assert_true(cfi_scan(&t->section, pc, fde));
	assert_true(cfa_program_at(&t->section, fde, pc, &rules));
	return rules;
}

static struct cfa_row row_at(const struct table *t, uint64_t pc)
{
	struct cfi_fde fde;
	struct cfa_rules rules = rules_at(t, pc, &fde);

	return cfa_row_from(&t->section, &fde, &rules);
}

/* CFA = rsp + 8, return address at CFA - 8 */
#define X86_INITIAL "\x0c\x07\x08\x90\x01"

static void a_push_and_a_frame_pointer_become_rows(void **state)
{
	struct table t;
	struct cfa_row row;

	(void)state;
	ASSEMBLE(&t, UNWIND_X86_64, "zR", X86_INITIAL,
		 "\x41\x0e\x10\x86\x02" /* +1: CFA rsp+16, rbp at CFA-16 */
		 "\x43\x0d\x06"		/* +3: CFA register rbp */
		 "\x02\x80\x0c\x07\x08" /* +128: CFA rsp+8 (rbp's rule stays) */);
	row = row_at(&t, CODE);
	assert_int_equal(row.kind, CFA_ROW_CFA);
	assert_int_equal(row.reg, 7);
	assert_int_equal(row.offset, 8);
	assert_int_equal(row.save[1], CFA_ROW_SAME);
	row = row_at(&t, CODE + 1);
	assert_int_equal(row.offset, 16);
	assert_int_equal(row.save[0], -1);
	assert_int_equal(row.save[1], -2);
	row = row_at(&t, CODE + 4);
	assert_int_equal(row.reg, 6);
	row = row_at(&t, CODE + 0xff);
	assert_int_equal(row.reg, 7);
	assert_int_equal(row.offset, 8);
	assert_int_equal(row.save[1], -2);
}

static void states_are_remembered_and_rules_restored(void **state)
{
	struct table t;
	struct cfi_fde fde;

	(void)state;
	ASSEMBLE(&t, UNWIND_X86_64, "zR", X86_INITIAL,
		 "\x83\x03\x0e\x20\x0a" /* rbx at CFA-24, CFA rsp+32, remember */
		 "\x44\xc3\x0e\x08"	/* +4: rbx restored, CFA rsp+8 */
		 "\x44\x0b" /* +4: recalled */);
	assert_int_equal(rules_at(&t, CODE, &fde).reg[3].kind, CFA_AT);
	assert_int_equal(rules_at(&t, CODE + 4, &fde).reg[3].kind, CFA_SAME);
	assert_int_equal(rules_at(&t, CODE + 4, &fde).cfa.value, 8);
	assert_int_equal(rules_at(&t, CODE + 8, &fde).reg[3].value, -24);
	assert_int_equal(rules_at(&t, CODE + 8, &fde).cfa.value, 32);
}

static void any_register_may_hold_the_cfa(void **state)
{
	struct table t;
	struct cfa_row row;

	(void)state;
	ASSEMBLE(&t, UNWIND_X86_64, "zR", X86_INITIAL, "\x0c\x03\x18");
	row = row_at(&t, CODE);
	assert_int_equal(row.kind, CFA_ROW_CFA);
	assert_int_equal(row.reg, 3);
	assert_int_equal(row.offset, 24);
}

static void a_realigned_frame_is_an_indirect_row(void **state)
{
	struct table t;
	struct cfa_row row;

	(void)state;
	ASSEMBLE(&t, UNWIND_X86_64, "zR", X86_INITIAL,
		 "\x0f\x03\x76\x78\x06" /* CFA = *(rbp - 8) */
		 "\x10\x06\x02\x76\x00" /* rbp at rbp + 0 */
		 "\x10\x03\x02\x76\x68" /* rbx at rbp - 24 */);
	row = row_at(&t, CODE);
	assert_int_equal(row.kind, CFA_ROW_INDIRECT);
	assert_int_equal(row.reg, 6);
	assert_int_equal(row.offset, -8);
	assert_int_equal(row.save[1], 0);
	assert_int_equal(row.save[2], -3);
}

static void the_linkers_plt_expression_is_a_row(void **state)
{
	struct table t;
	struct cfa_row row;

	(void)state;
	ASSEMBLE(&t, UNWIND_X86_64, "zR", X86_INITIAL,
		 "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22");
	row = row_at(&t, CODE);
	assert_int_equal(row.kind, CFA_ROW_PLT);
	assert_int_equal(row.offset, 11);
}

static void an_undefined_return_address_is_the_end(void **state)
{
	struct table t;

	(void)state;
	ASSEMBLE(&t, UNWIND_X86_64, "zR", X86_INITIAL, "\x07\x10");
	assert_int_equal(row_at(&t, CODE).kind, CFA_ROW_END);
}

static void an_aarch64_frame_saves_relative_to_its_base(void **state)
{
	struct table t;
	struct cfa_row row;

	(void)state;
	ASSEMBLE(&t, UNWIND_AARCH64, "zR", "\x0c\x1f\x00",
		 "\x2d"					    /* return address signed */
		 "\x41\x0e\x80\x20\x9d\x80\x04\x9e\xff\x03" /* +4: CFA sp+4096, x29 at
							      CFA-4096, x30 at CFA-4088 */
		 "\x41\x0d\x1d" /* +4: CFA x29+4096 */);
	row = row_at(&t, CODE);
	assert_int_equal(row.kind, CFA_ROW_BASE);
	assert_int_equal(row.reg, 31);
	assert_int_equal(row.save[0], CFA_ROW_SAME);
	row = row_at(&t, CODE + 8);
	assert_int_equal(row.reg, 29);
	assert_int_equal(row.offset, 4096);
	assert_int_equal(row.save[0], 1);
	assert_int_equal(row.save[1], 0);
}

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

static void a_register_below_sp_is_read_within_the_red_zone(void **state)
{
	uint64_t stack[40] = { [16] = 0x4444, [15] = 0x1111 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6000, sizeof(stack), NULL,
				  NULL };
	struct cfa_row row = { .kind = CFA_ROW_CFA, .reg = 7, .offset = 8 };
	struct unwind_regs g = { .valid = 0x1ffff };
	struct step s;

	(void)state;
	memset(row.save, CFA_ROW_SAME, sizeof(row.save));
	row.save[0] = -1;
	row.save[1] = -2; /* an epilogue behind `pop %rbp` */
	g.r[7] = 0x6080;
	assert_int_equal(step_row(&abi_x86_64, &row, &g, &m, &s), STEP_RETURN);
	assert_int_equal(g.r[UNWIND_X86_64_PC], 0x4444);
	assert_int_equal(g.r[UNWIND_X86_64_RBP], 0x1111);
	row.save[1] = -20; /* beyond it: clobbered */
	g.r[7] = 0x6080;
	assert_int_equal(step_row(&abi_x86_64, &row, &g, &m, &s), STEP_RETURN);
	assert_false(g.valid & abi_bit(UNWIND_X86_64_RBP));
}

static void a_popped_register_is_kept_when_the_copy_starts_at_sp(void **state)
{
	uint64_t stack[4] = { 0x4444 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6080, sizeof(stack), NULL,
				  NULL };
	struct cfa_row row = { .kind = CFA_ROW_CFA, .reg = 7, .offset = 8 };
	struct unwind_regs g = { .valid = 0x1ffff };
	struct step s;

	(void)state;
	memset(row.save, CFA_ROW_SAME, sizeof(row.save));
	row.save[0] = -1;
	row.save[1] = -2;
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

static void expressions_are_evaluated_within_bounds(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		enum cfa_expr_result result;
		uint64_t value;
	} t[] = {
		{ "\x33\x34\x22", 3, CFA_EXPR_OK, 7 },		  /* 3 + 4 */
		{ "\x33\x34\x1c", 3, CFA_EXPR_OK, (uint64_t)-1 }, /* 3 - 4 */
		{ "\x77\x08", 2, CFA_EXPR_OK, 0x6008 },		  /* rsp + 8 */
		{ "\x77\x08\x06", 3, CFA_EXPR_OK, 0x2222 },	  /* *(rsp + 8) */
		{ "\x09\xff\x19", 3, CFA_EXPR_OK, 1 },		  /* abs -1 */
		{ "\x31\x30\x1b", 3, CFA_EXPR_BAD, 0 },		  /* 1 / 0 */
		{ "\x22", 1, CFA_EXPR_BAD, 0 },			  /* nothing to add */
		{ "", 0, CFA_EXPR_BAD, 0 },
		{ "\x0e\x01", 2, CFA_EXPR_BAD, 0 },		   /* cut constant */
		{ "\x2f\xfd\xff", 3, CFA_EXPR_BAD, 0 },		   /* jumps to itself */
		{ "\x73\x00", 2, CFA_EXPR_NO_VALUE, 0 },	   /* rbx is not known */
		{ "\x30\x06", 2, CFA_EXPR_MEMORY, 0 },		   /* *0 */
		{ "\x31\x28\x01\x00\x35\x33", 6, CFA_EXPR_OK, 3 }, /* taken branch */
		{ "\x50", 1, CFA_EXPR_BAD, 0 }, /* DW_OP_reg0 is no value */
	};
	uint64_t stack[2] = { 0x1111, 0x2222 };
	struct stack_memory m = { (const uint8_t *)stack, 0x6000, sizeof(stack), NULL,
				  NULL };
	struct unwind_regs g = { .valid = abi_bit(7) };
	struct cfa_expr_input in = { &g, &m, NULL };

	(void)state;
	g.r[7] = 0x6000;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t v = 0;

		assert_int_equal(
			cfa_expr_eval((const uint8_t *)t[i].bytes, t[i].size, &in, &v),
			t[i].result);
		if (t[i].result == CFA_EXPR_OK)
			assert_int_equal(v, t[i].value);
	}
}

static void damaged_programs_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} t[] = {
		{ "\x0b", 1 }, /* recall without remember */
		{ "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a", 9 }, /* nested too deep */
		{ "\x0f\x7f", 2 },     /* expression beyond the end */
		{ "\x3f", 1 },	       /* unknown instruction */
		{ "\x0c\x63\x08", 3 }, /* CFA in register 99 */
		{ "\x04\x01", 2 },     /* cut operand */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cfa_rules rules;
		struct cfi_fde fde;
		struct table table;

		assemble(&table, UNWIND_X86_64, "zR", X86_INITIAL, 5, t[i].bytes,
			 t[i].size);
		assert_true(cfi_scan(&table.section, CODE, &fde));
		assert_false(cfa_program_at(&table.section, &fde, fde.end - 1, &rules));
	}
}

static void the_index_finds_the_last_start_at_or_before(void **state)
{
	uint8_t hdr[12 + 3 * 8] = { 1, 0x1b, 0x03, 0x3b };
	static const int32_t entries[] = { 0x100, 1, 0x200, 2, 0x300, 3 };
	struct eh_hdr h;
	size_t i;

	(void)state;
	put_u32(hdr + 4, 0x50);
	put_u32(hdr + 8, 3);
	memcpy(hdr + 12, entries, sizeof(entries));
	assert_true(eh_hdr_parse(hdr, sizeof(hdr), 0x1000, &h));
	assert_int_equal(h.eh_frame, 0x1054);
	assert_true(eh_hdr_is_sorted(&h));
	assert_false(eh_hdr_find(&h, 0x10ff, &i));
	assert_true(eh_hdr_find(&h, 0x12ff, &i));
	assert_int_equal(i, 1);
	assert_true(eh_hdr_find(&h, 0x9999, &i));
	assert_int_equal(i, 2);
	/* promised more than there is: no index */
	put_u32(hdr + 8, 4);
	assert_true(eh_hdr_parse(hdr, sizeof(hdr), 0x1000, &h));
	assert_null(h.entries);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_push_and_a_frame_pointer_become_rows),
		cmocka_unit_test(states_are_remembered_and_rules_restored),
		cmocka_unit_test(any_register_may_hold_the_cfa),
		cmocka_unit_test(a_realigned_frame_is_an_indirect_row),
		cmocka_unit_test(the_linkers_plt_expression_is_a_row),
		cmocka_unit_test(an_undefined_return_address_is_the_end),
		cmocka_unit_test(an_aarch64_frame_saves_relative_to_its_base),
		cmocka_unit_test(a_signed_return_address_is_stripped),
		cmocka_unit_test(a_leaf_returns_by_its_link_register_once),
		cmocka_unit_test(a_register_below_sp_is_read_within_the_red_zone),
		cmocka_unit_test(a_popped_register_is_kept_when_the_copy_starts_at_sp),
		cmocka_unit_test(all_popped_registers_are_kept_by_the_full_rules),
		cmocka_unit_test(
			a_register_that_calls_may_destroy_is_presumed_to_be_spared),
		cmocka_unit_test(expressions_are_evaluated_within_bounds),
		cmocka_unit_test(damaged_programs_are_refused),
		cmocka_unit_test(the_index_finds_the_last_start_at_or_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
