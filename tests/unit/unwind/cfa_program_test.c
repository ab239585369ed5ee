/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "unwind/cfa_row.h"
#include "unwind/eh_hdr.h"

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

/* Each instruction that gives rbx (3) a rule; data alignment is -8. */
static void every_register_instruction_gives_its_rule(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		enum cfa_rule_kind kind;
		int32_t value;
		uint8_t reg;
	} t[] = {
		{ "\x83\x02", 2, CFA_AT, -16, 0 },
		{ "\x05\x03\x02", 3, CFA_AT, -16, 0 },	    /* offset_extended */
		{ "\x11\x03\x7e", 3, CFA_AT, 16, 0 },	    /* offset_extended_sf */
		{ "\x2f\x03\x02", 3, CFA_AT, 16, 0 },	    /* negative_offset */
		{ "\x14\x03\x02", 3, CFA_IS, -16, 0 },	    /* val_offset */
		{ "\x15\x03\x7e", 3, CFA_IS, 16, 0 },	    /* val_offset_sf */
		{ "\x09\x03\x0c", 3, CFA_REGISTER, 0, 12 }, /* register */
		{ "\x09\x03\x63", 3, CFA_UNDEFINED, 0, 0 }, /* in one not carried */
		{ "\x07\x03", 2, CFA_UNDEFINED, 0, 0 },
		{ "\x83\x02\x08\x03", 4, CFA_SAME, 0, 0 },
		{ "\x83\x02\x06\x03", 4, CFA_SAME, 0, 0 }, /* restore_extended */
		{ "\x83\x02\xc3", 3, CFA_SAME, 0, 0 },	   /* restore */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cfi_fde fde;
		struct table table;
		struct cfa_rule rule;

		assemble(&table, UNWIND_X86_64, "zR", X86_INITIAL, 5, t[i].bytes,
			 t[i].size);
		rule = rules_at(&table, CODE, &fde).reg[3];
		assert_int_equal(rule.kind, t[i].kind);
		assert_int_equal(rule.value, t[i].value);
		assert_int_equal(rule.reg, t[i].reg);
	}
}

static void expressions_are_kept_by_their_place(void **state)
{
	struct table t;
	struct cfi_fde fde;
	struct cfa_rules rules;

	(void)state;
	ASSEMBLE(&t, UNWIND_X86_64, "zR", X86_INITIAL,
		 "\x10\x03\x02\x76\x68"	  /* rbx at rbp - 24 */
		 "\x16\x0c\x02\x77\x08"); /* r12 is rsp + 8 */
	rules = rules_at(&t, CODE, &fde);
	assert_int_equal(rules.reg[3].kind, CFA_AT_EXPR);
	assert_int_equal(rules.reg[3].expr_size, 2);
	assert_memory_equal(t.bytes + rules.reg[3].value, "\x76\x68", 2);
	assert_int_equal(rules.reg[12].kind, CFA_IS_EXPR);
	assert_memory_equal(t.bytes + rules.reg[12].value, "\x77\x08", 2);
}

static void every_cfa_instruction_gives_its_rule(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		uint8_t reg;
		int32_t value;
	} t[] = {
		{ "\x0c\x06\x10", 3, 6, 16 },
		{ "\x12\x06\x7e", 3, 6, 16 }, /* def_cfa_sf: -2 times -8 */
		{ "\x0d\x06", 2, 6, 8 },
		{ "\x0e\x20", 2, 7, 32 },
		{ "\x13\x7c", 2, 7, 32 }, /* def_cfa_offset_sf */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cfi_fde fde;
		struct table table;
		struct cfa_rule cfa;

		assemble(&table, UNWIND_X86_64, "zR", X86_INITIAL, 5, t[i].bytes,
			 t[i].size);
		cfa = rules_at(&table, CODE, &fde).cfa;
		assert_int_equal(cfa.kind, CFA_REGISTER);
		assert_int_equal(cfa.reg, t[i].reg);
		assert_int_equal(cfa.value, t[i].value);
	}
}

/* Each way to move on, by 0x20: the rule behind holds from there. */
static void every_advance_moves_the_place(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} t[] = {
		{ "\x60", 1 },	   /* advance_loc */
		{ "\x02\x20", 2 }, /* by one byte, two, four */
		{ "\x03\x20\x00", 3 },
		{ "\x04\x20\x00\x00\x00", 5 },
		{ "\x01\x20\x90\x00\x00", 5 }, /* set_loc */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cfi_fde fde;
		struct table table;
		char program[8];

		memcpy(program, t[i].bytes, t[i].size);
		memcpy(program + t[i].size, "\x0e\x28", 2);
		assemble(&table, UNWIND_X86_64, "zR", X86_INITIAL, 5, program,
			 t[i].size + 2);
		assert_int_equal(rules_at(&table, CODE + 0x1f, &fde).cfa.value, 8);
		assert_int_equal(rules_at(&table, CODE + 0x20, &fde).cfa.value, 40);
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
		{ "\x0f\x7f", 2 },		       /* expression beyond the end */
		{ "\x3f", 1 },			       /* unknown instruction */
		{ "\x0c\x63\x08", 3 },		       /* CFA in register 99 */
		{ "\x04\x01", 2 },		       /* cut operand */
		{ "\x0c\x07\xff\xff\xff\xff\x0f", 7 }, /* offsets beyond 31 bits, */
		{ "\x83\xff\xff\xff\xff\x0f", 6 },     /* with their factor, */
		{ "\x83\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10 }, /* beyond 63 */
		{ "\x83\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
		{ "\x0f\x01\x77\x0e\x08", 5 }, /* an offset for a CFA without register */
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
		cmocka_unit_test(every_register_instruction_gives_its_rule),
		cmocka_unit_test(expressions_are_kept_by_their_place),
		cmocka_unit_test(every_cfa_instruction_gives_its_rule),
		cmocka_unit_test(every_advance_moves_the_place),
		cmocka_unit_test(damaged_programs_are_refused),
		cmocka_unit_test(the_index_finds_the_last_start_at_or_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
