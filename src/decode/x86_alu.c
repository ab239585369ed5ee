/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_alu.h"

#define C   X86_ALU_C
#define P   X86_ALU_P
#define A   X86_ALU_A
#define Z   X86_ALU_Z
#define S   X86_ALU_S
#define O   X86_ALU_O
#define ALL X86_ALU_FLAGS

static void tell(struct known_bits *flags, uint32_t flag, bool is_set)
{
	flags->known |= flag;
	if (is_set)
		flags->bits |= flag;
}

static bool is_negative(uint64_t v, unsigned bytes)
{
	return v >> (8 * bytes - 1) & 1;
}

static bool has_even_parity(uint64_t v)
{
	v ^= v >> 4;
	return 0x9669 >> (v & 15) & 1;
}

struct known_bits x86_alu_flags_of(struct known_bits v, unsigned bytes)
{
	struct known_bits flags = { 0, 0 };

	if (v.bits || known_bits_is_whole(v, bytes))
		tell(&flags, Z, !v.bits);
	if (is_negative(v.known, bytes))
		tell(&flags, S, is_negative(v.bits, bytes));
	if (known_bits_is_whole(v, 1))
		tell(&flags, P, has_even_parity(v.bits));
	return flags;
}

static struct x86_result add(struct known_bits a, struct known_bits b,
			     struct known_bits carry, unsigned bytes)
{
	uint64_t mask = known_bits_mask(bytes);
	uint64_t r = (a.bits + b.bits + carry.bits) & mask;
	uint64_t low =
		carry.known & 1 ? known_bits_from_below(a.known & b.known) & mask : 0;
	struct x86_result to = { .value = { r & low, low }, .changed = ALL };

	to.flags = x86_alu_flags_of(to.value, bytes);
	if (low == mask) {
		tell(&to.flags, C,
		     is_negative((a.bits & b.bits) | ((a.bits | b.bits) & ~r), bytes));
		tell(&to.flags, O, is_negative((a.bits ^ r) & (b.bits ^ r), bytes));
		tell(&to.flags, A, (a.bits ^ b.bits ^ r) >> 4 & 1);
	} else if (known_bits_largest(a, bytes) < mask - known_bits_largest(b, bytes)) {
		tell(&to.flags, C, false);
	}
	return to;
}

/* What can be said of a difference that is not known. */
static void compare(struct x86_result *to, struct known_bits a, struct known_bits b,
		    unsigned bytes)
{
	if ((a.bits ^ b.bits) & a.known & b.known) {
		to->flags.bits &= ~(uint64_t)Z;
		tell(&to->flags, Z, false);
	}
	if (a.bits >= known_bits_largest(b, bytes))
		tell(&to->flags, C, false);
	else if (known_bits_largest(a, bytes) < b.bits)
		tell(&to->flags, C, true);
}

static struct x86_result sub(struct known_bits a, struct known_bits b,
			     struct known_bits borrow, unsigned bytes)
{
	uint64_t mask = known_bits_mask(bytes);
	uint64_t r = (a.bits - b.bits - borrow.bits) & mask;
	uint64_t low =
		borrow.known & 1 ? known_bits_from_below(a.known & b.known) & mask : 0;
	struct x86_result to = { .value = { r & low, low }, .changed = ALL };

	to.flags = x86_alu_flags_of(to.value, bytes);
	if (low == mask) {
		tell(&to.flags, C,
		     is_negative((~a.bits & b.bits) | ((~a.bits | b.bits) & r), bytes));
		tell(&to.flags, O, is_negative((a.bits ^ b.bits) & (a.bits ^ r), bytes));
		tell(&to.flags, A, (a.bits ^ b.bits ^ r) >> 4 & 1);
	} else if ((borrow.known & 1) && !borrow.bits) {
		compare(&to, a, b, bytes);
	}
	return to;
}

static struct x86_result bitwise(enum x86_alu_arithmetic what, struct known_bits a,
				 struct known_bits b, unsigned bytes)
{
	struct x86_result to = { .changed = ALL };
	uint64_t known = a.known & b.known, r = a.bits ^ b.bits;

	if (what == X86_ALU_AND) {
		known |= (a.known & ~a.bits) | (b.known & ~b.bits);
		r = a.bits & b.bits;
	} else if (what == X86_ALU_OR) {
		known |= a.bits | b.bits;
		r = a.bits | b.bits;
	}
	to.value = (struct known_bits){ r & known, known };
	to.flags = x86_alu_flags_of(to.value, bytes);
	tell(&to.flags, C, false);
	tell(&to.flags, O, false);
	return to;
}

struct x86_result x86_alu_arithmetic(enum x86_alu_arithmetic what, struct known_bits a,
				     struct known_bits b, struct known_bits carry,
				     unsigned bytes)
{
	static const struct known_bits none = { 0, 1 };

	switch (what) {
	case X86_ALU_ADD:
		return add(a, b, none, bytes);
	case X86_ALU_ADC:
		return add(a, b, carry, bytes);
	case X86_ALU_SBB:
		return sub(a, b, carry, bytes);
	case X86_ALU_SUB:
	case X86_ALU_CMP:
		return sub(a, b, none, bytes);
	default:
		return bitwise(what, a, b, bytes);
	}
}

static struct known_bits rotated(struct known_bits v, unsigned left, unsigned n_bits,
				 unsigned bytes)
{
	struct known_bits r = v;

	left %= n_bits;
	if (left) {
		r.bits = v.bits << left | v.bits >> (n_bits - left);
		r.known = v.known << left | v.known >> (n_bits - left);
	}
	return known_bits_part(r, bytes);
}

/* count: not 0. */
static void rotate(struct x86_result *to, bool is_right, unsigned count, unsigned n_bits,
		   unsigned bytes)
{
	unsigned top = n_bits - 1, out = is_right ? top : 0;
	/* the overflow flag tells it from the top bit */
	unsigned other = is_right ? top - 1 : 0;
	struct known_bits v = rotated(
		to->value, is_right ? n_bits - count % n_bits : count, n_bits, bytes);

	to->value = v;
	if (v.known >> out & 1)
		tell(&to->flags, C, v.bits >> out & 1);
	if (count == 1 && (v.known >> top & v.known >> other & 1))
		tell(&to->flags, O, (v.bits >> top ^ v.bits >> other) & 1);
}

/* count: not 0.  The last bit that is shifted out. */
static void tell_shifted_out(struct known_bits *flags, struct known_bits v, unsigned bit)
{
	if (v.known >> bit & 1)
		tell(flags, C, v.bits >> bit & 1);
}

static void shift_left(struct x86_result *to, unsigned count, unsigned n_bits,
		       unsigned bytes)
{
	struct known_bits v = to->value, r = { 0, known_bits_mask(bytes) };
	unsigned top = n_bits - 1;

	if (count < n_bits) {
		r.bits = v.bits << count;
		r.known = v.known << count | ((1ULL << count) - 1);
		tell_shifted_out(&to->flags, v, n_bits - count);
	}
	to->value = known_bits_part(r, bytes);
	if (count == 1 && (v.known >> top & v.known >> (top - 1) & 1))
		tell(&to->flags, O, (v.bits >> top ^ v.bits >> (top - 1)) & 1);
}

static void shift_right(struct x86_result *to, unsigned count, unsigned n_bits,
			unsigned bytes)
{
	struct known_bits v = to->value, r = { 0, known_bits_mask(bytes) };

	if (count < n_bits) {
		r.bits = v.bits >> count;
		r.known = (v.known | ~known_bits_mask(bytes)) >> count |
			  ~(UINT64_MAX >> count);
		tell_shifted_out(&to->flags, v, count - 1);
	}
	to->value = known_bits_part(r, bytes);
	if (count == 1 && is_negative(v.known, bytes))
		tell(&to->flags, O, is_negative(v.bits, bytes));
}

static void shift_signed(struct x86_result *to, unsigned count, unsigned n_bits,
			 unsigned bytes)
{
	struct known_bits v = to->value, r;
	unsigned by = count < n_bits ? count : n_bits - 1;

	r.bits = (uint64_t)((int64_t)known_bits_signed(v.bits, bytes) >> by);
	r.known = (uint64_t)((int64_t)known_bits_signed(v.known, bytes) >> by);
	if (count < n_bits)
		tell_shifted_out(&to->flags, v, count - 1);
	to->value = known_bits_part(r, bytes);
	if (count == 1)
		tell(&to->flags, O, false);
}

static struct x86_result unknown(uint32_t changed)
{
	return (struct x86_result){ .changed = changed };
}

struct x86_result x86_alu_shift(enum x86_alu_shift what, struct known_bits a,
				struct known_bits count, unsigned bytes)
{
	unsigned within = bytes == 8 ? 63 : 31, by = (unsigned)count.bits & within;
	unsigned n_bits = 8 * bytes;
	bool is_shift = what >= X86_ALU_SHL;
	struct x86_result to = { .value = a, .changed = is_shift ? ALL : C | O };

	if (~count.known & within)
		return unknown(to.changed);
	if (!by) {
		to.changed = 0;
		return to;
	}
	if (what == X86_ALU_RCL || what == X86_ALU_RCR)
		return unknown(to.changed);
	if (!is_shift) {
		rotate(&to, what == X86_ALU_ROR, by, n_bits, bytes);
		return to;
	}
	if (what == X86_ALU_SHR)
		shift_right(&to, by, n_bits, bytes);
	else if (what == X86_ALU_SAR)
		shift_signed(&to, by, n_bits, bytes);
	else
		shift_left(&to, by, n_bits, bytes);

	struct known_bits flags = x86_alu_flags_of(to.value, bytes);

	to.flags.bits |= flags.bits;
	to.flags.known |= flags.known;
	return to;
}

struct x86_result x86_alu_shift_both(bool is_right, struct known_bits a,
				     struct known_bits b, struct known_bits count,
				     unsigned bytes)
{
	unsigned within = bytes == 8 ? 63 : 31, by = (unsigned)count.bits & within;
	unsigned n_bits = 8 * bytes, left = is_right ? n_bits - by : by;
	struct known_bits low = is_right ? a : b, high = is_right ? b : a;
	struct x86_result to = { .value = a, .changed = ALL };

	if ((~count.known & within) || by >= n_bits)
		return unknown(ALL);
	if (!by) {
		to.changed = 0;
		return to;
	}
	to.value.bits = high.bits << left | low.bits >> (n_bits - left);
	to.value.known = high.known << left | low.known >> (n_bits - left);
	to.value = known_bits_part(to.value, bytes);
	to.flags = x86_alu_flags_of(to.value, bytes);
	tell_shifted_out(&to.flags, a, is_right ? by - 1 : n_bits - by);
	if (by == 1 && is_negative(a.known & to.value.known, bytes))
		tell(&to.flags, O, is_negative(a.bits ^ to.value.bits, bytes));
	return to;
}

struct x86_result x86_alu_multiply(bool is_signed, struct known_bits a,
				   struct known_bits b, unsigned bytes,
				   struct known_bits *high)
{
	struct x86_result to = { .changed = ALL };
	unsigned __int128 product;
	uint64_t low, above, plain;

	*high = (struct known_bits){ 0, 0 };
	if (!known_bits_is_whole(a, bytes) || !known_bits_is_whole(b, bytes))
		return to;
	if (is_signed)
		product = (unsigned __int128)((__int128)(int64_t)known_bits_signed(
						      a.bits, bytes) *
					      (int64_t)known_bits_signed(b.bits, bytes));
	else
		product = (unsigned __int128)a.bits * b.bits;
	low = (uint64_t)product & known_bits_mask(bytes);
	above = (uint64_t)(product >> 8 * bytes) & known_bits_mask(bytes);
	/* what it is when the lower half says all */
	plain = is_signed && is_negative(low, bytes) ? known_bits_mask(bytes) : 0;
	to.value = known_bits_of(low, bytes);
	*high = known_bits_of(above, bytes);
	tell(&to.flags, C, above != plain);
	tell(&to.flags, O, above != plain);
	return to;
}

static enum x86_alu_division divide_signed(int64_t of, int64_t by, unsigned bytes,
					   uint64_t *quotient, uint64_t *rest)
{
	if (!by || (by == -1 && of == INT64_MIN))
		return X86_ALU_REFUSED;

	uint64_t q = (uint64_t)(of / by);

	if (known_bits_signed(q & known_bits_mask(bytes), bytes) != q)
		return X86_ALU_REFUSED;
	*quotient = q & known_bits_mask(bytes);
	*rest = (uint64_t)(of % by) & known_bits_mask(bytes);
	return X86_ALU_DIVIDED;
}

enum x86_alu_division x86_alu_divide(bool is_signed, uint64_t high, uint64_t low,
				     uint64_t by, unsigned bytes, uint64_t *quotient,
				     uint64_t *rest)
{
	uint64_t of = low;

	if (bytes < 8) {
		of |= high << 8 * bytes;
		if (is_signed)
			of = known_bits_signed(of, 2 * bytes);
	} else if (high != (is_signed && is_negative(low, 8) ? UINT64_MAX : 0)) {
		return X86_ALU_TOO_WIDE;
	}
	if (is_signed)
		return divide_signed((int64_t)of, (int64_t)known_bits_signed(by, bytes),
				     bytes, quotient, rest);
	if (!by || of / by > known_bits_mask(bytes))
		return X86_ALU_REFUSED;
	*quotient = of / by;
	*rest = of % by;
	return X86_ALU_DIVIDED;
}
