/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_bits.h"

#include "decode/x86_machine.h"

#define C X86_ALU_C
#define P X86_ALU_P
#define A X86_ALU_A
#define Z X86_ALU_Z
#define S X86_ALU_S
#define O X86_ALU_O

enum { BT, BTS, BTR, BTC };

static struct known_bits with_bit(struct known_bits v, unsigned what, unsigned bit)
{
	uint64_t mask = 1ULL << bit;

	if (what == BTC) {
		v.bits ^= mask & v.known;
		return v;
	}
	v.known |= mask;
	v.bits = what == BTS ? v.bits | mask : v.bits & ~mask;
	return v;
}

/* A register's number goes on beyond an operand in memory. */
static void go_to_word(struct x86_step *s, struct known_bits nth)
{
	int64_t n;

	if (!known_bits_is_whole(nth, s->operand_bytes)) {
		s->addr = (struct known_bits){ 0, 0 };
		return;
	}
	nth = known_bits_sign_extend(nth, s->operand_bytes, 8);
	n = (int64_t)nth.bits;
	s->addr = x86_machine_plus(s->addr, (n >> (s->operand_bytes == 2   ? 4
						   : s->operand_bytes == 4 ? 5
									   : 6)) *
						    s->operand_bytes);
	if (s->op->is_address_32)
		s->addr = (struct known_bits){ 0, 0 };
}

bool x86_bits_test(struct x86_step *s)
{
	bool has_number = s->op->opcode == 0xba;
	unsigned what = (has_number ? s->op->reg : s->op->opcode >> 3) & 7;
	unsigned bytes = s->operand_bytes, within = 8 * bytes - 1, bit;
	struct known_bits nth = has_number ? known_bits_of((uint64_t)s->op->imm, 1)
					   : x86_machine_reg(s, s->op->reg, bytes);
	struct known_bits v, flags = { 0, 0 };

	if (what < 4)
		return false;
	what &= 3;
	if (!has_number && s->op->mod != 3)
		go_to_word(s, nth);
	v = x86_machine_rm(s, bytes);
	bit = (unsigned)nth.bits & within;
	if (~nth.known & within) {
		v = what == BT ? v : (struct known_bits){ 0, 0 };
	} else {
		flags.known = v.known >> bit & 1;
		flags.bits = v.bits >> bit & 1;
		v = with_bit(v, what, bit);
	}
	x86_machine_set_flags(s->m, flags, C | O | S | A | P);
	if (what != BT)
		x86_machine_set_rm(s, bytes, v);
	return true;
}

static unsigned n_set(uint64_t v)
{
	unsigned n = 0;

	for (; v; v &= v - 1)
		n++;
	return n;
}

static void set_count(struct x86_step *s, unsigned n, uint64_t set, uint64_t known)
{
	x86_machine_set_reg(s, s->op->reg, s->operand_bytes,
			    known_bits_of(n, s->operand_bytes));
	x86_machine_set_flags(s->m, (struct known_bits){ set, known }, X86_ALU_FLAGS);
}

/* Nothing is known but perhaps that the number is not 0. */
static void set_uncounted(struct x86_step *s, bool is_scan, bool is_nonzero)
{
	uint32_t told = is_scan ? Z : s->op->opcode == 0xb8 ? Z : C;
	struct known_bits flags = { 0, is_nonzero ? told : 0 };

	s->m->regs[s->op->reg] = (struct known_bits){ 0, 0 };
	x86_machine_set_flags(s->m, flags, X86_ALU_FLAGS);
}

bool x86_bits_count(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes, n;
	bool is_new = s->op->repeat == 0xf3, is_down = s->op->opcode == 0xbd;
	struct known_bits v = x86_machine_rm(s, bytes);

	if ((s->op->opcode == 0xb8 && !is_new) || s->op->repeat == 0xf2)
		return false;
	if (!known_bits_is_whole(v, bytes) || (!v.bits && !is_new)) {
		set_uncounted(s, !is_new, v.bits);
		if (known_bits_is_whole(v, bytes)) /* and is 0 */
			x86_machine_set_flags(s->m, (struct known_bits){ Z, Z }, Z);
		return true;
	}
	if (s->op->opcode == 0xb8) {
		n = n_set(v.bits);
		set_count(s, n, n ? 0 : Z, X86_ALU_FLAGS);
		return true;
	}
	if (!v.bits)
		n = 8 * bytes;
	else if (is_down)
		n = 63 - (unsigned)__builtin_clzll(v.bits);
	else
		n = (unsigned)__builtin_ctzll(v.bits);
	if (!is_new) {
		set_count(s, n, 0, Z);
		return true;
	}
	if (is_down && v.bits)
		n = 8 * bytes - 1 - n;
	set_count(s, n, (v.bits ? 0 : C) | (n ? 0 : Z), C | Z);
	return true;
}

static void set_result(struct x86_step *s, unsigned reg, struct known_bits v,
		       struct known_bits carry)
{
	struct known_bits flags = x86_alu_flags_of(v, s->operand_bytes);

	flags.known = (flags.known & (Z | S)) | O | (carry.known & 1);
	flags.bits = (flags.bits & (Z | S)) | (carry.bits & 1);
	x86_machine_set_reg(s, reg, s->operand_bytes, v);
	x86_machine_set_flags(s->m, flags, X86_ALU_FLAGS);
}

static const struct known_bits zero_bit = { 0, 1 };

static void and_not(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes;
	struct known_bits a = x86_machine_reg(s, s->op->vvvv, bytes);

	a.bits = ~a.bits & a.known;
	a = x86_alu_arithmetic(X86_ALU_AND, a, x86_machine_rm(s, bytes), zero_bit, bytes)
		    .value;
	set_result(s, s->op->reg, a, zero_bit);
}

/* blsr, blsmsk, blsi */
static bool lowest_bit(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes, what = s->op->reg & 7;
	struct known_bits v = x86_machine_rm(s, bytes), carry = { 0, 0 };
	struct known_bits r = { 0, 0 };

	if (what < 1 || what > 3)
		return false;
	if (v.bits || known_bits_is_whole(v, bytes))
		carry = (struct known_bits){ (v.bits != 0) == (what == 3), 1 };
	if (known_bits_is_whole(v, bytes))
		r = known_bits_of(what == 1   ? v.bits & (v.bits - 1)
				  : what == 2 ? v.bits ^ (v.bits - 1)
					      : v.bits & (0 - v.bits),
				  bytes);
	set_result(s, s->op->vvvv, r, carry);
	return true;
}

static void zero_high(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes;
	struct known_bits n = known_bits_part(s->m->regs[s->op->vvvv], 1);
	struct known_bits v = x86_machine_rm(s, bytes), carry = { 0, 0 };

	if (!known_bits_is_whole(n, 1)) {
		set_result(s, s->op->reg, carry, carry);
		return;
	}
	carry = (struct known_bits){ n.bits >= 8 * bytes, 1 };
	if (!carry.bits) {
		v.bits &= (1ULL << n.bits) - 1;
		v.known |= ~((1ULL << n.bits) - 1);
	}
	set_result(s, s->op->reg, known_bits_part(v, bytes), carry);
}

/* bextr: from a bit on, so many. */
static void extract(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes, from, n;
	struct known_bits how = x86_machine_reg(s, s->op->vvvv, 2), flags;
	struct known_bits v = x86_machine_rm(s, bytes);

	v.known |= ~known_bits_mask(bytes);
	if (!known_bits_is_whole(how, 2)) {
		v = (struct known_bits){ 0, 0 };
	} else {
		from = how.bits & 0xff;
		n = how.bits >> 8;
		v.bits = from < 64 ? v.bits >> from : 0;
		v.known = from && from < 64 ? v.known >> from | ~(UINT64_MAX >> from)
			  : from	    ? UINT64_MAX
					    : v.known;
		if (n < 64) {
			v.bits &= (1ULL << n) - 1;
			v.known |= ~((1ULL << n) - 1);
		}
	}
	v = known_bits_part(v, bytes);
	flags = x86_alu_flags_of(v, bytes);
	flags.bits &= Z;
	flags.known = (flags.known & Z) | C | O;
	x86_machine_set_reg(s, s->op->reg, bytes, v);
	x86_machine_set_flags(s->m, flags, X86_ALU_FLAGS);
}

/* shlx, shrx, sarx, rorx: as the others, but for the flags. */
static void shift(struct x86_step *s, enum x86_alu_shift what, struct known_bits by)
{
	unsigned bytes = s->operand_bytes;
	struct x86_result r = x86_alu_shift(what, x86_machine_rm(s, bytes), by, bytes);

	x86_machine_set_reg(s, s->op->reg, bytes, r.value);
}

static void multiply(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes;
	struct known_bits high;
	struct x86_result r =
		x86_alu_multiply(false, x86_machine_reg(s, X86_OP_RDX, bytes),
				 x86_machine_rm(s, bytes), bytes, &high);

	x86_machine_set_reg(s, s->op->vvvv, bytes, r.value);
	x86_machine_set_reg(s, s->op->reg, bytes, high);
}

bool x86_bits_vex(struct x86_step *s)
{
	const struct x86_op *op = s->op;
	struct known_bits by = known_bits_part(s->m->regs[op->vvvv], 1);
	bool is_plain = !op->repeat && !op->has_66;

	if (x86_machine_is_evex(s))
		return false;
	if (op->map == X86_OP_0F3A && op->opcode == 0xf0 && op->repeat == 0xf2)
		return shift(s, X86_ALU_ROR, known_bits_of((uint64_t)op->imm, 1)), true;
	if (op->map != X86_OP_0F38)
		return false;
	switch (op->opcode) {
	case 0xf2:
		return is_plain && (and_not(s), true);
	case 0xf3:
		return is_plain && lowest_bit(s);
	case 0xf5:
		return is_plain && (zero_high(s), true);
	case 0xf6:
		return op->repeat == 0xf2 && (multiply(s), true);
	case 0xf7:
		if (is_plain)
			extract(s);
		else
			shift(s,
			      op->has_66	   ? X86_ALU_SHL
			      : op->repeat == 0xf3 ? X86_ALU_SAR
						   : X86_ALU_SHR,
			      by);
		return true;
	default:
		return false;
	}
}
