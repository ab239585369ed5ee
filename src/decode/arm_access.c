/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/arm_access.h"

#include "decode/arm_alu.h"

#define RT  ARM_MACHINE_RD
#define RN  ARM_MACHINE_RN
#define RT2 ARM_MACHINE_RA
#define RM  ARM_MACHINE_RM

static const struct known_bits unknown = { 0, 0 };

static bool bit(const struct arm_step *s, unsigned at)
{
	return s->code >> at & 1;
}

static unsigned field(const struct arm_step *s, unsigned at, unsigned n)
{
	return arm_machine_field(s, at, n);
}

static struct known_bits base(const struct arm_step *s)
{
	return arm_machine_reg_or_sp(s, RN, 8);
}

/* The base is also what is loaded or stored: each processor does something else then. */
static bool is_base(const struct arm_step *s, unsigned at)
{
	return field(s, RN, 5) == field(s, at, 5) && field(s, at, 5) != ARM_MACHINE_SP;
}

/* What is read or written, by size, the vector bit and opc. */
struct access {
	unsigned bytes; /* 0: nothing, a prefetch */
	bool is_load, is_vector, is_signed;
	unsigned to_bytes; /* of a register that is loaded */
};

static bool access_of(const struct arm_step *s, struct access *ret)
{
	unsigned size = field(s, 30, 2), opc = field(s, 22, 2);

	*ret = (struct access){ .bytes = 1u << size,
				.is_load = opc & 1,
				.is_vector = bit(s, 26),
				.to_bytes = 8 };
	if (ret->is_vector && opc > 1) {
		ret->bytes = 16;
		return !size;
	}
	if (ret->is_vector || opc < 2)
		return true;
	ret->is_load = ret->is_signed = true;
	ret->to_bytes = opc == 2 ? 8 : 4;
	if (size == 3)
		ret->bytes = 0;
	return opc == 2 || size < 2;
}

static void tell_access(struct arm_step *s, struct known_bits addr)
{
	s->is_access = true;
	s->accessed = arm_machine_untagged(addr);
}

/* Of its own frame nothing is told, but of tables there: it is where others were right
 * before. */
static void access_at(struct arm_step *s, struct known_bits addr)
{
	if (!s->is_access && field(s, RN, 5) != ARM_MACHINE_SP)
		tell_access(s, addr);
}

static void load(struct arm_step *s, const struct access *a, unsigned at,
		 struct known_bits addr)
{
	struct known_bits v;

	if (a->is_vector)
		return;
	v = arm_machine_load(s->m, addr, a->bytes);
	if (a->is_signed)
		v = known_bits_sign_extend(v, a->bytes, a->to_bytes);
	else
		v.known |= ~known_bits_mask(a->bytes);
	arm_machine_set_reg(s, at, a->to_bytes, v);
}

static void store(struct arm_step *s, const struct access *a, unsigned at,
		  struct known_bits addr)
{
	if (a->is_vector)
		arm_machine_spoil(s->m, addr, a->bytes);
	else
		arm_machine_store(s->m, addr, a->bytes, arm_machine_reg(s, at, a->bytes));
}

static void access_one(struct arm_step *s, const struct access *a, unsigned at,
		       struct known_bits addr)
{
	if (!a->bytes)
		return;
	access_at(s, addr);
	if (a->is_load)
		load(s, a, at, addr);
	else
		store(s, a, at, addr);
}

static bool at_number(struct arm_step *s)
{
	struct access a;

	if (!access_of(s, &a))
		return false;
	/* sizes of vectors' are in other bits */
	access_one(s, &a, RT,
		   arm_machine_plus(base(s), field(s, 10, 12) * (a.bytes ? a.bytes : 8)));
	return true;
}

/* Unscaled; for programs that are less trusted; and those that change the base, after the
 * access or before it. */
static bool at_signed(struct arm_step *s)
{
	enum { UNSCALED, POST, UNPRIVILEGED, PRE } how = field(s, 10, 2);
	struct known_bits was = base(s);
	struct known_bits moved = arm_machine_plus(was, arm_machine_offset(s, 12, 9));
	bool is_moved = how == POST || how == PRE;
	struct access a;

	if (!access_of(s, &a) || (is_moved && !a.bytes) ||
	    (a.is_vector && how == UNPRIVILEGED) ||
	    (is_moved && !a.is_vector && is_base(s, RT)))
		return false;
	access_one(s, &a, RT, how == POST ? was : moved);
	if (is_moved)
		arm_machine_set_reg_or_sp(s, RN, 8, moved);
	return true;
}

static bool at_register(struct arm_step *s)
{
	unsigned option = field(s, 13, 3), by;
	struct known_bits off = arm_alu_extend(arm_machine_reg(s, RM, 8), option), addr;
	struct access a;

	if (!access_of(s, &a) || !(option & 2))
		return false;
	by = !bit(s, 12) ? 0 : a.bytes ? (unsigned)__builtin_ctz(a.bytes) : 3;
	off = arm_alu_shift(ARM_ALU_LSL, off, by, 8);
	addr = arm_alu_add(base(s), off, known_bits_of(0, 1), 8).value;
	if (a.bytes)
		tell_access(s, addr);
	access_one(s, &a, RT, addr);
	return true;
}

/* Of what is at a distance from the instruction. */
static bool at_distance(struct arm_step *s)
{
	static const struct access kinds[] = { { 4, true, false, false, 8 },
					       { 8, true, false, false, 8 },
					       { 4, true, false, true, 8 } };
	unsigned kind = field(s, 30, 2);
	uint64_t to = s->addr + (uint64_t)arm_machine_offset(s, 5, 19) * 4;

	if (kind == 3)
		return !bit(s, 26); /* a prefetch */
	s->is_access = true;
	s->accessed = known_bits_of(to, 8);
	if (!bit(s, 26))
		load(s, &kinds[kind], RT, s->accessed);
	return true;
}

/* Kinds of pairs, by opc and then whether they load. */
static bool pair_of(const struct arm_step *s, struct access *ret)
{
	unsigned opc = field(s, 30, 2);

	*ret = (struct access){ .is_load = bit(s, 22),
				.is_vector = bit(s, 26),
				.to_bytes = 8 };
	if (opc == 3)
		return false;
	if (ret->is_vector) {
		ret->bytes = 4u << opc;
		return true;
	}
	ret->bytes = opc == 2 ? 8 : 4;
	ret->is_signed = opc == 1;
	/* the other would store a tag of memory, too */
	return opc != 1 || (ret->is_load && field(s, 23, 2));
}

static bool pair(struct arm_step *s)
{
	enum { PAST_CACHES, POST, OFFSET, PRE } how = field(s, 23, 2);
	bool is_moved = how == POST || how == PRE;
	struct known_bits at = base(s), moved;
	struct access a;

	if (!pair_of(s, &a))
		return false;
	if (!a.is_vector && ((is_moved && (is_base(s, RT) || is_base(s, RT2))) ||
			     (a.is_load && field(s, RT, 5) == field(s, RT2, 5))))
		return false;
	moved = arm_machine_plus(at, arm_machine_offset(s, 15, 7) * a.bytes);
	if (how != POST)
		at = moved;
	access_one(s, &a, RT, at);
	/* its address is that of before the first was loaded */
	access_one(s, &a, RT2, arm_machine_plus(at, a.bytes));
	if (is_moved)
		arm_machine_set_reg_or_sp(s, RN, 8, moved);
	return true;
}

/* ldxr ldaxr stxr stlxr: whether a store succeeds is known by the processor alone. */
static bool exclusive(struct arm_step *s)
{
	unsigned bytes = 1u << field(s, 30, 2);
	struct access a = { bytes, true, false, false, 8 };
	struct known_bits at = base(s), was;

	access_at(s, at);
	if (bit(s, 22)) {
		load(s, &a, RT, at);
		return true;
	}
	if (is_base(s, RM) || field(s, RM, 5) == field(s, RT, 5))
		return false;
	was = arm_machine_load(s->m, at, bytes);
	arm_machine_store(s->m, at, bytes,
			  known_bits_either(was, arm_machine_reg(s, RT, bytes)));
	arm_machine_set_reg(s, RM, 8, unknown);
	return true;
}

static bool exclusive_pair(struct arm_step *s)
{
	unsigned bytes = bit(s, 30) ? 8 : 4;
	struct access a = { bytes, true, false, false, 8 };
	struct known_bits at = base(s);

	access_at(s, at);
	if (bit(s, 22)) {
		if (field(s, RT, 5) == field(s, RT2, 5))
			return false;
		load(s, &a, RT, at);
		load(s, &a, RT2, arm_machine_plus(at, bytes));
		return true;
	}
	if (is_base(s, RM) || field(s, RM, 5) == field(s, RT, 5) ||
	    field(s, RM, 5) == field(s, RT2, 5))
		return false;
	arm_machine_spoil(s->m, at, 2 * bytes);
	arm_machine_set_reg(s, RM, 8, unknown);
	return true;
}

/* ldar stlr and their kin, at the base or near it */
static bool ordered(struct arm_step *s)
{
	struct access a = { 1u << field(s, 30, 2), bit(s, 22), false, false, 8 };

	access_one(s, &a, RT, base(s));
	return true;
}

static bool ordered_near(struct arm_step *s)
{
	struct access a;

	if (!access_of(s, &a) || !a.bytes)
		return false;
	access_one(s, &a, RT, arm_machine_plus(base(s), arm_machine_offset(s, 12, 9)));
	return true;
}

/* A new value where there was an old one, if it is what was compared with. */
static bool compare_swap(struct arm_step *s)
{
	unsigned bytes = 1u << field(s, 30, 2);
	struct known_bits at = base(s), was = arm_machine_load(s->m, at, bytes);
	struct known_bits with = arm_machine_reg(s, RM, bytes);
	struct known_bits v = arm_machine_reg(s, RT, bytes);

	access_at(s, at);
	if ((was.bits ^ with.bits) & was.known & with.known)
		v = was;
	else if (!known_bits_is_whole(was, bytes) || !known_bits_is_whole(with, bytes))
		v = known_bits_either(v, was);
	arm_machine_store(s->m, at, bytes, v);
	was.known |= ~known_bits_mask(bytes);
	arm_machine_set_reg(s, RM, 8, was);
	return true;
}

/* Of two registers each, which are even ones and the next. */
static bool compare_swap_pair(struct arm_step *s)
{
	unsigned bytes = bit(s, 30) ? 8 : 4, first = field(s, RM, 5);

	if ((first | field(s, RT, 5)) & 1)
		return false;
	access_at(s, base(s));
	arm_machine_spoil(s->m, base(s), 2 * bytes);
	s->m->regs[first] = unknown;
	if (first + 1 != ARM_MACHINE_SP)
		s->m->regs[first + 1] = unknown;
	return true;
}

/* ldadd ldclr ldeor ldset ldsmax ldsmin ldumax ldumin */
static struct known_bits changed(unsigned how, struct known_bits was, struct known_bits v,
				 unsigned bytes)
{
	switch (how) {
	case 0:
		return arm_alu_add(was, v, known_bits_of(0, 1), bytes).value;
	case 1:
		return arm_alu_logical(ARM_ALU_AND, was, arm_alu_not(v, bytes), bytes)
			.value;
	case 2:
		return arm_alu_logical(ARM_ALU_EOR, was, v, bytes).value;
	case 3:
		return arm_alu_logical(ARM_ALU_ORR, was, v, bytes).value;
	default: /* one of both */
		return known_bits_either(was, v);
	}
}

static bool swap_or_change(struct arm_step *s)
{
	unsigned bytes = 1u << field(s, 30, 2), how = field(s, 12, 3);
	struct access a = { bytes, true, false, false, 8 };
	struct known_bits at = base(s), was = arm_machine_load(s->m, at, bytes);
	struct known_bits v = arm_machine_reg(s, RM, bytes);

	access_at(s, at);
	if (bit(s, 15) && how == 4 && field(s, 22, 2) == 2 && field(s, RM, 5) == 31) {
		load(s, &a, RT, at); /* ldapr */
		return true;
	}
	if (bit(s, 15) && how)
		return false;
	arm_machine_store(s->m, at, bytes, bit(s, 15) ? v : changed(how, was, v, bytes));
	was.known |= ~known_bits_mask(bytes);
	arm_machine_set_reg(s, RT, 8, was);
	return true;
}

/* Vectors' elements: bytes from the base on, which may go on behind them. */
static bool structure(struct arm_step *s, unsigned bytes)
{
	struct known_bits at = base(s), by = arm_machine_reg(s, RM, 8);

	access_at(s, at);
	if (!bit(s, 22))
		arm_machine_spoil(s->m, at, bytes);
	if (!bit(s, 23))
		return !field(s, RM, 5);
	if (field(s, RM, 5) == 31)
		by = known_bits_of(bytes, 8);
	arm_machine_set_reg_or_sp(s, RN, 8,
				  arm_alu_add(at, by, known_bits_of(0, 1), 8).value);
	return true;
}

static bool several_structures(struct arm_step *s)
{
	/* registers, by opcode */
	static const uint8_t n[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2
	};
	unsigned n_regs = n[field(s, 12, 4)];

	return n_regs && structure(s, n_regs * (bit(s, 30) ? 16 : 8));
}

static bool one_structure(struct arm_step *s)
{
	unsigned n_elements = (bit(s, 13) << 1 | bit(s, 21)) + 1;
	unsigned scale = field(s, 14, 2), size = field(s, 10, 2);

	if (scale == 3)
		scale = size; /* for all elements */
	else if (scale == 2 && (size & 1))
		scale = 3;
	return structure(s, n_elements << scale);
}

bool arm_access(struct arm_step *s)
{
	static const struct arm_rule rules[] = {
		{ 0x3b000000, 0x18000000, at_distance },
		{ 0x3a000000, 0x28000000, pair },
		{ 0x3b000000, 0x39000000, at_number },
		{ 0x3b200000, 0x38000000, at_signed },
		{ 0x3b200c00, 0x38200800, at_register },
		{ 0x3f200c00, 0x38200000, swap_or_change },
		{ 0x3fa00000, 0x08000000, exclusive },
		{ 0xbfa00000, 0x88200000, exclusive_pair },
		{ 0xbfa07c00, 0x08207c00, compare_swap_pair },
		{ 0x3fa00000, 0x08800000, ordered },
		{ 0x3fa07c00, 0x08a07c00, compare_swap },
		{ 0x3f200c00, 0x19000000, ordered_near },
		{ 0xbf200000, 0x0c000000, several_structures },
		{ 0xbf000000, 0x0d000000, one_structure },
	};

	return arm_machine_apply(rules, sizeof(rules) / sizeof(rules[0]), s);
}
