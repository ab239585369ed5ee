/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/arm_alu.h"

static const struct known_bits unknown = { 0, 0 };

static bool is_negative(uint64_t v, unsigned bytes)
{
	return v >> (8 * bytes - 1) & 1;
}

static void tell(struct known_bits *flags, uint32_t flag, bool is_set)
{
	flags->known |= flag;
	if (is_set)
		flags->bits |= flag;
}

/* Sign and zero of a result. */
static struct known_bits flags_of(struct known_bits v, unsigned bytes)
{
	struct known_bits flags = { 0, 0 };

	if (is_negative(v.known, bytes))
		tell(&flags, ARM_ALU_N, is_negative(v.bits, bytes));
	if (v.bits || known_bits_is_whole(v, bytes))
		tell(&flags, ARM_ALU_Z, !v.bits);
	return flags;
}

static bool carries(uint64_t a, uint64_t b, uint64_t carry, unsigned bytes)
{
	return ((unsigned __int128)a + b + carry) >> 8 * bytes;
}

struct arm_result arm_alu_add(struct known_bits a, struct known_bits b,
			      struct known_bits carry, unsigned bytes)
{
	uint64_t mask = known_bits_mask(bytes);
	uint64_t r = (a.bits + b.bits + carry.bits) & mask;
	uint64_t low =
		carry.known & 1 ? known_bits_from_below(a.known & b.known) & mask : 0;
	struct arm_result to = { .value = { r & low, low } };
	bool least = carries(a.bits, b.bits, carry.bits, bytes);
	bool most = carries(known_bits_largest(a, bytes), known_bits_largest(b, bytes),
			    carry.known & 1 ? carry.bits : 1, bytes);

	to.flags = flags_of(to.value, bytes);
	if (least == most)
		tell(&to.flags, ARM_ALU_C, least);
	if (low == mask)
		tell(&to.flags, ARM_ALU_V,
		     is_negative((a.bits ^ r) & (b.bits ^ r), bytes));
	return to;
}

struct known_bits arm_alu_not(struct known_bits v, unsigned bytes)
{
	v.bits = ~v.bits & v.known & known_bits_mask(bytes);
	return v;
}

struct arm_result arm_alu_sub(struct known_bits a, struct known_bits b,
			      struct known_bits carry, unsigned bytes)
{
	struct arm_result to = arm_alu_add(a, arm_alu_not(b, bytes), carry, bytes);

	/* they differ, by how much may not be known */
	if ((carry.bits & 1) && ((a.bits ^ b.bits) & a.known & b.known)) {
		to.flags.bits &= ~(uint64_t)ARM_ALU_Z;
		to.flags.known |= ARM_ALU_Z;
	}
	return to;
}

struct arm_result arm_alu_logical(enum arm_alu_logical what, struct known_bits a,
				  struct known_bits b, unsigned bytes)
{
	uint64_t known = a.known & b.known, r = a.bits & b.bits;
	struct arm_result to;

	if (what == ARM_ALU_ORR) {
		known |= a.bits | b.bits;
		r = a.bits | b.bits;
	} else if (what == ARM_ALU_EOR) {
		r = a.bits ^ b.bits;
	} else {
		known |= (a.known & ~a.bits) | (b.known & ~b.bits);
	}
	to.value = (struct known_bits){ r & known, known };
	to.flags = flags_of(to.value, bytes);
	tell(&to.flags, ARM_ALU_C, false);
	tell(&to.flags, ARM_ALU_V, false);
	return to;
}

static uint64_t rotate(uint64_t v, unsigned right, unsigned n_bits)
{
	return right ? v >> right | v << (n_bits - right) : v;
}

struct known_bits arm_alu_shift(enum arm_alu_shift how, struct known_bits v, unsigned by,
				unsigned bytes)
{
	uint64_t mask = known_bits_mask(bytes);

	switch (how) {
	case ARM_ALU_LSL:
		v.bits <<= by;
		v.known = v.known << by | ((UINT64_C(1) << by) - 1);
		break;
	case ARM_ALU_LSR:
		v.bits >>= by;
		v.known = (v.known | ~mask) >> by;
		if (by)
			v.known |= ~(UINT64_MAX >> by);
		break;
	case ARM_ALU_ASR:
		v.bits = (uint64_t)((int64_t)known_bits_signed(v.bits, bytes) >> by);
		v.known = (uint64_t)((int64_t)known_bits_signed(v.known, bytes) >> by);
		break;
	default:
		v.bits = rotate(v.bits, by, 8 * bytes);
		v.known = rotate(v.known, by, 8 * bytes);
	}
	return known_bits_part(v, bytes);
}

struct known_bits arm_alu_extend(struct known_bits v, unsigned option)
{
	unsigned bytes = 1u << (option & 3);

	v = known_bits_part(v, bytes);
	if (option & 4)
		return known_bits_sign_extend(v, bytes, 8);
	v.known |= ~known_bits_mask(bytes);
	return v;
}

struct known_bits arm_alu_multiply(struct known_bits a, struct known_bits b,
				   unsigned bytes)
{
	uint64_t known = known_bits_from_below(a.known) & known_bits_from_below(b.known) &
			 known_bits_mask(bytes);

	return (struct known_bits){ a.bits * b.bits & known, known };
}

struct known_bits arm_alu_multiply_high(struct known_bits a, struct known_bits b,
					bool is_signed)
{
	unsigned __int128 product = (unsigned __int128)a.bits * b.bits;

	if (!known_bits_is_whole(a, 8) || !known_bits_is_whole(b, 8))
		return unknown;
	if (is_signed)
		product =
			(unsigned __int128)((__int128)(int64_t)a.bits * (int64_t)b.bits);
	return known_bits_of((uint64_t)(product >> 64), 8);
}

struct known_bits arm_alu_divide(struct known_bits a, struct known_bits b, bool is_signed,
				 unsigned bytes)
{
	int64_t of = (int64_t)known_bits_signed(a.bits, bytes);
	int64_t by = (int64_t)known_bits_signed(b.bits, bytes);

	if (!known_bits_is_whole(a, bytes) || !known_bits_is_whole(b, bytes))
		return unknown;
	if (!b.bits)
		return known_bits_of(0, bytes);
	if (!is_signed)
		return known_bits_of(a.bits / b.bits, bytes);
	if (by == -1) /* also of the least number, which has no other sign */
		return known_bits_of(0 - a.bits, bytes);
	return known_bits_of((uint64_t)(of / by), bytes);
}

static uint64_t ones(unsigned n)
{
	return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static uint64_t repeated(uint64_t v, unsigned n_bits)
{
	for (; n_bits < 64; n_bits *= 2)
		v |= v << n_bits;
	return v;
}

bool arm_alu_masks_of(unsigned n_immr_imms, bool is_logical, struct arm_alu_masks *ret)
{
	unsigned imms = n_immr_imms & 63, immr = n_immr_imms >> 6 & 63;
	unsigned sizes = (n_immr_imms >> 12 & 1) << 6 | (~imms & 63), n_bits, last;
	uint64_t run;

	if (sizes < 2)
		return false;
	n_bits = 1u << (31 - __builtin_clz(sizes));
	last = n_bits - 1;
	imms &= last;
	immr &= last;
	if (is_logical && imms == last)
		return false;
	run = rotate(ones(imms + 1), immr, n_bits) & ones(n_bits);
	ret->rotated = repeated(run, n_bits);
	ret->top = repeated(ones(((imms - immr) & last) + 1), n_bits);
	return true;
}
