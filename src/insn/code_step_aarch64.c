/* SPDX-License-Identifier: Apache-2.0 */
/* By the patterns of the architecture's manual (DDI 0487, C4.1). */
#include <elf.h>

#include "insn/code_step.h"

#define ZERO_REGISTER	 31	     /* or the stack pointer, as the instruction says */
#define CHANGED_BY_CALLS 0x4007ffffu /* x0 to x18, x30 */

static uint32_t word_of(const uint8_t *code)
{
	return (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
	       (uint32_t)code[3] << 24;
}

static uint32_t field(uint32_t w, unsigned from, unsigned n)
{
	return w >> from & ((1u << n) - 1);
}

static int64_t signed_field(uint32_t w, unsigned from, unsigned n)
{
	return (int64_t)((uint64_t)field(w, from, n) << (64 - n)) >> (64 - n);
}

struct pattern {
	uint32_t mask, bits;
	uint8_t flow;	 /* enum code_step_flow */
	uint8_t from, n; /* the target's bits, in words */
};

/* The first that fits. */
static const struct pattern patterns[] = {
	{ 0xfc000000, 0x14000000, CODE_STEP_JUMP, 0, 26 },   /* b */
	{ 0xfc000000, 0x94000000, CODE_STEP_CALL, 0, 26 },   /* bl */
	{ 0xff000000, 0x54000000, CODE_STEP_BRANCH, 5, 19 }, /* b.cond, bc.cond */
	{ 0x7e000000, 0x34000000, CODE_STEP_BRANCH, 5, 19 }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, CODE_STEP_BRANCH, 5, 14 }, /* tbz, tbnz */
	{ 0xfefff000, 0xd61f0000, CODE_STEP_JUMP_TO, 0, 0 }, /* br, braa, ... */
	{ 0xfefff000, 0xd63f0000, CODE_STEP_CALL_TO, 0, 0 }, /* blr, blraa, ... */
	{ 0xfefff000, 0xd65f0000, CODE_STEP_RETURN, 0, 0 },  /* ret, retaa */
	{ 0xfefff000, 0xd69f0000, CODE_STEP_RETURN, 0, 0 },  /* eret */
	{ 0xffe0001f, 0xd4200000, CODE_STEP_STOP, 0, 0 },    /* brk */
	{ 0xffe0001f, 0xd4400000, CODE_STEP_STOP, 0, 0 },    /* hlt */
};

static bool read_aarch64(const uint8_t *code, size_t size, uint64_t address,
			 struct code_step *ret)
{
	uint32_t w;

	if (size < 4)
		return false;
	w = word_of(code);
	*ret = (struct code_step){ .address = address,
				   .size = 4,
				   .is_padding = w == 0xd503201f || !w };
	if (!(w >> 16)) /* udf: never was anything else, and fills up */
		ret->flow = CODE_STEP_STOP;
	if (field(w, 26, 3) != 5) /* branches, exceptions and system */
		return true;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const struct pattern *p = &patterns[i];

		if ((w & p->mask) != p->bits)
			continue;
		ret->flow = p->flow;
		if (p->n)
			ret->target =
				address + (uint64_t)(signed_field(w, p->from, p->n) * 4);
		break;
	}
	return true;
}

static void set(struct code_step_effect *e, uint32_t w, uint8_t base)
{
	e->kind = CODE_STEP_EFFECT_SET;
	e->to = (uint8_t)field(w, 0, 5);
	e->place.base = base;
}

static bool set_address(uint32_t w, const struct code_step *s, struct code_step_effect *e)
{
	int64_t imm = signed_field(w, 5, 19) * 4 + field(w, 29, 2);
	bool is_page = w >> 31;

	if ((w & 0x1f000000) != 0x10000000)
		return false;
	set(e, w, CODE_STEP_NO_REGISTER);
	e->place.offset = is_page ? (int64_t)(s->address & ~0xfffull) + imm * 4096
				  : (int64_t)s->address + imm;
	return true;
}

static bool set_constant(uint32_t w, struct code_step_effect *e)
{
	uint64_t imm = (uint64_t)field(w, 5, 16) << 16 * field(w, 21, 2);

	if ((w & 0x7f800000) == 0x12800000)
		imm = w >> 31 ? ~imm : (uint32_t)~imm;
	else if ((w & 0x7f800000) != 0x52800000)
		return false;
	set(e, w, CODE_STEP_NO_REGISTER);
	e->place.offset = (int64_t)imm;
	return true;
}

/* add, sub and cmp of an immediate. */
static bool add_immediate(uint32_t w, struct code_step_effect *e)
{
	int64_t imm = (int64_t)field(w, 10, 12) << 12 * field(w, 22, 1);
	bool is_sub = field(w, 30, 1), sets_flags = field(w, 29, 1);

	if ((w & 0x1f800000) != 0x11000000)
		return false;
	if (is_sub && sets_flags && field(w, 0, 5) == ZERO_REGISTER) {
		e->kind = CODE_STEP_EFFECT_COMPARE;
		e->from = (uint8_t)field(w, 5, 5);
		e->value = (uint64_t)imm;
		return true;
	}
	set(e, w, (uint8_t)field(w, 5, 5));
	e->place.offset = is_sub ? -imm : imm;
	e->changes_flags = sets_flags;
	return true;
}

static void extend_index(uint32_t option, struct code_step_place *p)
{
	p->index_bytes = (uint8_t)(1u << (option & 3));
	p->is_index_signed = option & 4;
}

/* add and cmp of registers, one of them shifted or extended. */
static bool add_registers(uint32_t w, struct code_step_effect *e)
{
	bool is_extended = (w & 0x1fe00000) == 0x0b200000;
	bool is_sub = field(w, 30, 1), sets_flags = field(w, 29, 1);

	if (!is_extended && (w & 0x1fe00000) != 0x0b000000) /* lsl */
		return false;
	if (is_sub) {
		e->kind = sets_flags && field(w, 0, 5) == ZERO_REGISTER
				  ? CODE_STEP_EFFECT_COMPARE
				  : CODE_STEP_EFFECT_OTHER;
		e->from = (uint8_t)field(w, 5, 5);
		e->with = (uint8_t)field(w, 16, 5);
		e->changes_flags = sets_flags && e->kind == CODE_STEP_EFFECT_OTHER;
		e->changed |= 1u << field(w, 0, 5);
		return true;
	}
	set(e, w, (uint8_t)field(w, 5, 5));
	e->place.index = (uint8_t)field(w, 16, 5);
	e->place.shift = (uint8_t)field(w, 10, is_extended ? 3 : 6);
	if (is_extended)
		extend_index(field(w, 13, 3), &e->place);
	e->changes_flags = sets_flags;
	return true;
}

/* mov, and extensions by ubfm, sbfm and and. */
static bool move(uint32_t w, struct code_step_effect *e)
{
	uint32_t immr = field(w, 16, 6), imms = field(w, 10, 6), top = w >> 31 ? 63 : 31;
	bool is_signed = !field(w, 30, 1);

	if ((w & 0x7fe0ffe0) == 0x2a0003e0) { /* orr with the zero register */
		set(e, w, (uint8_t)field(w, 16, 5));
		e->bytes = w >> 31 ? 8 : 4;
		return true;
	}
	if ((w & 0x7f800000) == 0x12000000 && !immr && imms < top) {
		e->kind = CODE_STEP_EFFECT_LIMIT; /* to another register it is a new value
						   */
		e->to = (uint8_t)field(w, 0, 5);
		e->from = (uint8_t)field(w, 5, 5);
		e->value = (2ull << imms) - 1;
		return true;
	}
	if ((w & 0x1f800000) != 0x13000000 || field(w, 29, 1))
		return false;
	if (!immr && (imms == 7 || imms == 15 || imms == 31)) {
		set(e, w, (uint8_t)field(w, 5, 5));
		e->bytes = (uint8_t)((imms + 1) / 8);
		e->is_signed = is_signed;
		return true;
	}
	if (is_signed || imms == top || immr != imms + 1)
		return false;
	set(e, w, CODE_STEP_NO_REGISTER); /* lsl */
	e->place.index = (uint8_t)field(w, 5, 5);
	e->place.shift = (uint8_t)(top - imms);
	return true;
}

static void access(uint32_t w, struct code_step_effect *e)
{
	uint32_t opc = field(w, 22, 2);

	e->bytes = (uint8_t)(1u << field(w, 30, 2));
	e->is_signed = opc & 2;
	e->kind = opc ? CODE_STEP_EFFECT_LOAD : CODE_STEP_EFFECT_STORE;
	e->place.base = (uint8_t)field(w, 5, 5);
	if (opc)
		e->to = (uint8_t)field(w, 0, 5);
	else
		e->from = (uint8_t)field(w, 0, 5);
}

/* One general register and one place; what changes the base by the way is none. */
static bool load_or_store(uint32_t w, struct code_step_effect *e)
{
	uint32_t size = field(w, 30, 2);

	if ((w & 0x3f200c00) == 0x38200800) {
		access(w, e);
		e->place.index = (uint8_t)field(w, 16, 5);
		e->place.shift = (uint8_t)(field(w, 12, 1) ? size : 0);
		extend_index(field(w, 13, 3), &e->place);
	} else if ((w & 0x3f000000) == 0x39000000) {
		access(w, e);
		e->place.offset = (int64_t)field(w, 10, 12) << size;
	} else if ((w & 0x3f200c00) == 0x38000000) {
		access(w, e);
		e->place.offset = signed_field(w, 12, 9);
	} else {
		return false;
	}
	return true;
}

/* By the pair that a condition's lowest bit turns around: hs lo, hi ls, ge lt, gt le. */
static const uint8_t conditions[16] = {
	[2] = CODE_STEP_CONDITION_NOT_BELOW,  [3] = CODE_STEP_CONDITION_BELOW,
	[8] = CODE_STEP_CONDITION_ABOVE,      [9] = CODE_STEP_CONDITION_NOT_ABOVE,
	[10] = CODE_STEP_CONDITION_NOT_BELOW, [11] = CODE_STEP_CONDITION_BELOW,
	[12] = CODE_STEP_CONDITION_ABOVE,     [13] = CODE_STEP_CONDITION_NOT_ABOVE,
};

/* Everything else: what it may change.  Too much is no harm. */
static void change(uint32_t w, struct code_step_effect *e)
{
	e->changed = 1u << field(w, 0, 5);
	if ((w & 0x3a000000) == 0x28000000) /* pairs, and the base that they move */
		e->changed |= 1u << field(w, 10, 5) | 1u << field(w, 5, 5);
	if ((w & 0x3b200400) == 0x38000400)
		e->changed |= 1u << field(w, 5, 5);
	e->changes_flags = field(w, 29, 1);
}

static void effect_of_flow(uint32_t w, const struct code_step *step,
			   struct code_step_effect *e)
{
	if (step->flow == CODE_STEP_CALL || step->flow == CODE_STEP_CALL_TO) {
		e->changed = CHANGED_BY_CALLS;
		e->changes_flags = true;
	} else if (step->flow == CODE_STEP_JUMP_TO) {
		e->kind = CODE_STEP_EFFECT_JUMP;
		e->place.base = (uint8_t)field(w, 5, 5);
	} else if ((w & 0xff000000) == 0x54000000) {
		e->kind = CODE_STEP_EFFECT_BRANCH;
		e->condition = conditions[field(w, 0, 4)];
	}
}

static void effect_aarch64(const uint8_t *code, const struct code_step *step,
			   struct code_step_effect *e)
{
	uint32_t w = word_of(code);

	*e = (struct code_step_effect){ .to = CODE_STEP_NO_REGISTER,
					.from = CODE_STEP_NO_REGISTER,
					.with = CODE_STEP_NO_REGISTER,
					.place = { .base = CODE_STEP_NO_REGISTER,
						   .index = CODE_STEP_NO_REGISTER } };
	if (step->flow != CODE_STEP_ON)
		effect_of_flow(w, step, e);
	else if (!set_address(w, step, e) && !set_constant(w, e) &&
		 !add_immediate(w, e) && !add_registers(w, e) && !move(w, e) &&
		 !load_or_store(w, e))
		change(w, e);
}

const struct code_step_machine code_step_aarch64 = {
	.number = EM_AARCH64,
	.unit_bytes = 4,
	.stack_register = 31,
	.changed_by_calls = CHANGED_BY_CALLS,
	.read = read_aarch64,
	.effect = effect_aarch64,
};
