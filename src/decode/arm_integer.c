/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/arm_integer.h"

#include "decode/arm_alu.h"

#define RD ARM_MACHINE_RD
#define RN ARM_MACHINE_RN
#define RA ARM_MACHINE_RA
#define RM ARM_MACHINE_RM

static const struct known_bits unknown = { 0, 0 };
static const struct known_bits none = { 0, 1 }, one = { 1, 1 };

static bool bit(const struct arm_step *s, unsigned at)
{
	return s->code >> at & 1;
}

static bool forget(struct arm_step *s)
{
	arm_machine_set_reg(s, RD, 8, unknown);
	return true;
}

static bool forget_flags(struct arm_step *s)
{
	s->m->flags = unknown;
	return true;
}

static bool set(struct arm_step *s, struct known_bits v)
{
	arm_machine_set_reg(s, RD, arm_machine_bytes(s), v);
	return true;
}

/* add adds sub subs */
static struct known_bits sum(struct arm_step *s, struct known_bits a, struct known_bits b)
{
	unsigned bytes = arm_machine_bytes(s);
	struct arm_result r = bit(s, 30) ? arm_alu_sub(a, b, one, bytes)
					 : arm_alu_add(a, b, none, bytes);

	if (bit(s, 29))
		s->m->flags = r.flags;
	return r.value;
}

/* Of what has the stack pointer as an operand: as the result, where there are no flags.
 */
static bool set_sum(struct arm_step *s, struct known_bits v)
{
	if (bit(s, 29))
		return set(s, v);
	arm_machine_set_reg_or_sp(s, RD, arm_machine_bytes(s), v);
	return true;
}

static bool address(struct arm_step *s)
{
	int64_t off = arm_machine_offset(s, 5, 19) * 4 + arm_machine_field(s, 29, 2);
	uint64_t page = s->addr & ~UINT64_C(0xfff);

	arm_machine_set_reg(s, RD, 8,
			    known_bits_of(bit(s, 31) ? page + ((uint64_t)off << 12)
						     : s->addr + (uint64_t)off,
					  8));
	return true;
}

static bool add_number(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s);
	uint64_t by = arm_machine_field(s, 10, 12) << (bit(s, 22) ? 12 : 0);

	return set_sum(
		s, sum(s, arm_machine_reg_or_sp(s, RN, bytes), known_bits_of(by, bytes)));
}

/* addg subg: the tag of an address may change */
static bool add_tag(struct arm_step *s)
{
	arm_machine_set_reg_or_sp(s, RD, 8, unknown);
	return bit(s, 31);
}

/* smax umax smin umin */
static bool extreme(struct arm_step *s, bool is_signed, bool is_least,
		    struct known_bits b)
{
	unsigned bytes = arm_machine_bytes(s);
	struct known_bits a = arm_machine_reg(s, RN, bytes);
	bool is_less;

	if (!known_bits_is_whole(a, bytes) || !known_bits_is_whole(b, bytes))
		return set(s, known_bits_either(a, b));
	is_less = is_signed ? (int64_t)known_bits_signed(a.bits, bytes) <
				      (int64_t)known_bits_signed(b.bits, bytes)
			    : a.bits < b.bits;
	return set(s, is_less == is_least ? a : b);
}

static bool extreme_number(struct arm_step *s)
{
	bool is_signed = !bit(s, 18);
	uint64_t by = arm_machine_field(s, 10, 8);

	if (arm_machine_field(s, 20, 2))
		return false;
	if (is_signed)
		by = known_bits_signed(by, 1);
	return extreme(s, is_signed, bit(s, 19), known_bits_of(by, arm_machine_bytes(s)));
}

static bool logical(struct arm_step *s, struct known_bits b, bool is_immediate)
{
	unsigned bytes = arm_machine_bytes(s), what = arm_machine_field(s, 29, 2);
	struct arm_result r =
		arm_alu_logical(what, arm_machine_reg(s, RN, bytes), b, bytes);

	if (what == ARM_ALU_ANDS)
		s->m->flags = r.flags;
	else if (is_immediate)
		return arm_machine_set_reg_or_sp(s, RD, bytes, r.value), true;
	return set(s, r.value);
}

/* Wide masks are of 64 bits alone. */
static bool masks_of(struct arm_step *s, bool is_logical, struct arm_alu_masks *ret)
{
	if (bit(s, 22) && !bit(s, 31))
		return false;
	return arm_alu_masks_of(arm_machine_field(s, 10, 13), is_logical, ret);
}

static bool logical_number(struct arm_step *s)
{
	struct arm_alu_masks m;

	return masks_of(s, true, &m) &&
	       logical(s, known_bits_of(m.rotated, arm_machine_bytes(s)), true);
}

/* movn movz movk */
static bool move_number(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s), how = arm_machine_field(s, 29, 2);
	unsigned at = 16 * arm_machine_field(s, 21, 2);
	uint64_t number = (uint64_t)arm_machine_field(s, 5, 16) << at;
	uint64_t there = UINT64_C(0xffff) << at;
	struct known_bits v = arm_machine_reg(s, RD, bytes);

	if (how == 1 || at >= 8 * bytes)
		return false;
	if (how == 3) {
		v.bits = (v.bits & ~there) | number;
		v.known |= there;
		return set(s, v);
	}
	return set(s, known_bits_of(how ? number : ~number, bytes));
}

static uint64_t field_bits(uint64_t to, uint64_t rotated, uint64_t sign,
			   const struct arm_alu_masks *m)
{
	uint64_t bottom = (to & ~m->rotated) | (rotated & m->rotated);

	return (sign & ~m->top) | (bottom & m->top);
}

/* sbfm bfm ubfm, of which are most shifts and extensions by numbers */
static bool bit_field(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s), how = arm_machine_field(s, 29, 2);
	unsigned immr = arm_machine_field(s, 16, 6), imms = arm_machine_field(s, 10, 6);
	struct known_bits to =
		how == 1 ? arm_machine_reg(s, RD, bytes) : known_bits_of(0, bytes);
	struct known_bits from = arm_machine_reg(s, RN, bytes), turned, above = to;
	struct arm_alu_masks m;

	if (how == 3 || bit(s, 22) != bit(s, 31) || (bytes == 4 && (immr | imms) >= 32) ||
	    !arm_alu_masks_of(arm_machine_field(s, 10, 13), false, &m))
		return false;
	turned = arm_alu_shift(ARM_ALU_ROR, from, immr, bytes);
	if (!how)
		above = (struct known_bits){ 0 - (from.bits >> imms & 1),
					     0 - (from.known >> imms & 1) };
	return set(s, (struct known_bits){
			      field_bits(to.bits, turned.bits, above.bits, &m),
			      field_bits(to.known, turned.known, above.known, &m) });
}

/* The low bits of the first above the rest of the second. */
static bool extract(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s), at = arm_machine_field(s, 10, 6);
	struct known_bits high = arm_machine_reg(s, RN, bytes);
	struct known_bits low = arm_machine_reg(s, RM, bytes);

	if (bit(s, 22) != bit(s, 31) || at >= 8 * bytes)
		return false;
	if (!at)
		return set(s, low);
	high.bits <<= 8 * bytes - at;
	high.known <<= 8 * bytes - at;
	return set(s, (struct known_bits){ high.bits | low.bits >> at,
					   high.known | low.known >> at });
}

bool arm_integer_immediate(struct arm_step *s)
{
	static const struct arm_rule rules[] = {
		{ 0x1f000000, 0x10000000, address },
		{ 0x1f800000, 0x11000000, add_number },
		{ 0x7fc00000, 0x11c00000, extreme_number },
		{ 0x3fc00000, 0x11800000, add_tag },
		{ 0x1f800000, 0x12000000, logical_number },
		{ 0x1f800000, 0x12800000, move_number },
		{ 0x1f800000, 0x13000000, bit_field },
		{ 0x7fa00000, 0x13800000, extract },
	};

	return arm_machine_apply(rules, sizeof(rules) / sizeof(rules[0]), s);
}

/* The second operand, shifted by a number; false: by too much. */
static bool shifted(const struct arm_step *s, struct known_bits *ret)
{
	unsigned bytes = arm_machine_bytes(s), by = arm_machine_field(s, 10, 6);

	if (by >= 8 * bytes)
		return false;
	*ret = arm_alu_shift(arm_machine_field(s, 22, 2), arm_machine_reg(s, RM, bytes),
			     by, bytes);
	return true;
}

static bool logical_shifted(struct arm_step *s)
{
	struct known_bits b;

	if (!shifted(s, &b))
		return false;
	return logical(s, bit(s, 21) ? arm_alu_not(b, arm_machine_bytes(s)) : b, false);
}

static bool add_shifted(struct arm_step *s)
{
	struct known_bits b;

	if (arm_machine_field(s, 22, 2) == ARM_ALU_ROR || !shifted(s, &b))
		return false;
	return set(s, sum(s, arm_machine_reg(s, RN, arm_machine_bytes(s)), b));
}

static bool add_extended(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s), by = arm_machine_field(s, 10, 3);
	struct known_bits b =
		arm_alu_extend(arm_machine_reg(s, RM, 8), arm_machine_field(s, 13, 3));

	if (by > 4)
		return false;
	b = known_bits_part(arm_alu_shift(ARM_ALU_LSL, b, by, 8), bytes);
	return set_sum(s, sum(s, arm_machine_reg_or_sp(s, RN, bytes), b));
}

/* adc adcs sbc sbcs */
static bool add_carry(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s);
	struct known_bits a = arm_machine_reg(s, RN, bytes);
	struct known_bits b = arm_machine_reg(s, RM, bytes);
	struct known_bits carry = arm_machine_carry(s->m);
	struct arm_result r = bit(s, 30) ? arm_alu_sub(a, b, carry, bytes)
					 : arm_alu_add(a, b, carry, bytes);

	if (bit(s, 29))
		s->m->flags = r.flags;
	return set(s, r.value);
}

static bool compare_if(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s);
	struct known_bits is = arm_machine_condition(s->m, arm_machine_field(s, 12, 4));
	struct known_bits a = arm_machine_reg(s, RN, bytes);
	struct known_bits b = bit(s, 11)
				      ? known_bits_of(arm_machine_field(s, RM, 5), bytes)
				      : arm_machine_reg(s, RM, bytes);
	struct arm_result r = bit(s, 30) ? arm_alu_sub(a, b, one, bytes)
					 : arm_alu_add(a, b, none, bytes);
	struct known_bits otherwise = { (uint64_t)arm_machine_field(s, 0, 4) << 28,
					ARM_ALU_FLAGS };

	if (!is.known)
		s->m->flags = known_bits_either(r.flags, otherwise);
	else
		s->m->flags = is.bits ? r.flags : otherwise;
	return true;
}

/* csel csinc csinv csneg */
static bool select_if(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s);
	struct known_bits is = arm_machine_condition(s->m, arm_machine_field(s, 12, 4));
	struct known_bits a = arm_machine_reg(s, RN, bytes);
	struct known_bits b = arm_machine_reg(s, RM, bytes);

	if (bit(s, 30))
		b = arm_alu_not(b, bytes);
	if (bit(s, 10))
		b = arm_alu_add(b, known_bits_of(1, bytes), none, bytes).value;
	if (!is.known)
		return set(s, known_bits_either(a, b));
	return set(s, is.bits ? a : b);
}

/* madd msub, also of products of halves, and high halves of products */
static bool multiply(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s), how = arm_machine_field(s, 21, 3);
	struct known_bits a = arm_machine_reg(s, RN, bytes);
	struct known_bits b = arm_machine_reg(s, RM, bytes), product;
	struct known_bits to = arm_machine_reg(s, RA, bytes);
	unsigned half = how == 1 ? 6 : 2; /* extended with a sign or without */

	if (how && (bytes == 4 || how == 3 || how == 4 || how == 7))
		return false;
	if (how == 2 || how == 6)
		return !bit(s, 15) && set(s, arm_alu_multiply_high(a, b, how == 2));
	if (how) {
		a = arm_alu_extend(a, half);
		b = arm_alu_extend(b, half);
	}
	product = arm_alu_multiply(a, b, bytes);
	return set(s, bit(s, 15) ? arm_alu_sub(to, product, one, bytes).value
				 : arm_alu_add(to, product, none, bytes).value);
}

static bool shift_by_register(struct arm_step *s, enum arm_alu_shift how)
{
	unsigned bytes = arm_machine_bytes(s), last = 8 * bytes - 1;
	struct known_bits by = arm_machine_reg(s, RM, bytes);

	if (~by.known & last)
		return set(s, unknown);
	return set(s, arm_alu_shift(how, arm_machine_reg(s, RN, bytes), by.bits & last,
				    bytes));
}

static bool of_two(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s), what = arm_machine_field(s, 10, 6);
	struct known_bits a = arm_machine_reg(s, RN, bytes);
	struct known_bits b = arm_machine_reg(s, RM, bytes);

	switch (what) {
	case 2:
	case 3:
		return set(s, arm_alu_divide(a, b, what == 3, bytes));
	case 4: /* irg */
		return add_tag(s);
	case 0:	 /* subp */
	case 5:	 /* gmi */
	case 12: /* pacga */
		return bytes == 8 && forget(s);
	case 8 ... 11:
		return shift_by_register(s, what - 8);
	case 16 ... 23: /* crc32 */
		return forget(s);
	case 24 ... 27:
		return extreme(s, !(what & 1), what >= 26, b);
	default:
		return false;
	}
}

static struct known_bits reversed(struct known_bits v, unsigned bytes, unsigned of)
{
	struct known_bits r = { 0, 0 };

	for (unsigned i = 0; i < bytes; i++) {
		unsigned to = 8 * ((i / of) * of + of - 1 - i % of);

		r.bits |= (v.bits >> 8 * i & 0xff) << to;
		r.known |= (v.known >> 8 * i & 0xff) << to;
	}
	return r;
}

static uint64_t turned_round(uint64_t v, unsigned bytes)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 8 * bytes; i++)
		r |= (v >> i & 1) << (8 * bytes - 1 - i);
	return r;
}

static unsigned leading_zeros(uint64_t v, unsigned bytes)
{
	return v ? (unsigned)__builtin_clzll(v) - (64 - 8 * bytes) : 8 * bytes;
}

/* By hand: compilers call a function of their library for it. */
static unsigned ones_in(uint64_t v)
{
	unsigned n = 0;

	for (; v; v &= v - 1)
		n++;
	return n;
}

/* clz cls ctz cnt abs: of what is known as a whole */
static bool counted(struct arm_step *s, unsigned what, struct known_bits v,
		    unsigned bytes)
{
	uint64_t mask = known_bits_mask(bytes), sign = 0 - (v.bits >> (8 * bytes - 1));
	uint64_t r;

	if (!known_bits_is_whole(v, bytes))
		return set(s, unknown);
	if (what == 4)
		r = leading_zeros(v.bits, bytes);
	else if (what == 5)
		r = leading_zeros((v.bits ^ sign) & mask, bytes) - 1;
	else if (what == 6)
		r = leading_zeros(turned_round(v.bits, bytes), bytes);
	else if (what == 7)
		r = ones_in(v.bits);
	else
		r = (v.bits ^ sign) - sign;
	return set(s, known_bits_of(r, bytes));
}

/* rbit rev16 rev32 rev */
static bool of_one(struct arm_step *s)
{
	unsigned bytes = arm_machine_bytes(s), what = arm_machine_field(s, 10, 6);
	struct known_bits v = arm_machine_reg(s, RN, bytes);

	if (what > 8 || (what == 3 && bytes == 4))
		return false;
	if (what > 3)
		return counted(s, what, v, bytes);
	if (what)
		return set(s, reversed(v, bytes, 1u << what));
	return set(s, (struct known_bits){ turned_round(v.bits, bytes),
					   turned_round(v.known, bytes) });
}

/* pacia to autdzb, xpaci and xpacd: the address's own bits stay, and good ones are what
 * is authenticated. */
static bool sign_address(struct arm_step *s)
{
	unsigned what = arm_machine_field(s, 10, 6);
	struct known_bits v = arm_machine_reg(s, RD, 8);

	if (what > 17 || !bit(s, 31))
		return false;
	arm_machine_set_reg(s, RD, 8,
			    what & 4 || what >= 16 ? arm_machine_stripped(v)
						   : arm_machine_signed(v));
	return true;
}

/* subps */
static bool subtract_pointers(struct arm_step *s)
{
	return forget_flags(s) && forget(s);
}

bool arm_integer_register(struct arm_step *s)
{
	static const struct arm_rule rules[] = {
		{ 0x1f000000, 0x0a000000, logical_shifted },
		{ 0x1f200000, 0x0b000000, add_shifted },
		{ 0x1fe00000, 0x0b200000, add_extended },
		{ 0x1fe0fc00, 0x1a000000, add_carry },
		{ 0xffe07c10, 0xba000400, forget_flags }, /* rmif */
		{ 0xffffbc1f, 0x3a00080d, forget_flags }, /* setf8, setf16 */
		{ 0x3fe00410, 0x3a400000, compare_if },
		{ 0x3fe00800, 0x1a800000, select_if },
		{ 0x7f000000, 0x1b000000, multiply },
		{ 0x7fe00000, 0x1ac00000, of_two },
		{ 0xffe0fc00, 0xbac00000, subtract_pointers },
		{ 0x7fff0000, 0x5ac00000, of_one },
		{ 0x7fff0000, 0x5ac10000, sign_address },
	};

	return arm_machine_apply(rules, sizeof(rules) / sizeof(rules[0]), s);
}
