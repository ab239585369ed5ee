/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_execute.h"

#include "decode/x86_bits.h"
#include "decode/x86_blur.h"
#include "decode/x86_machine.h"
#include "decode/x86_string.h"

#define RAX X86_OP_RAX
#define RDX X86_OP_RDX

/* Of opcodes whose even ones are of bytes. */
static unsigned sized(const struct x86_step *s)
{
	return s->op->opcode & 1 ? s->operand_bytes : 1;
}

/* The register in the opcode's last bits. */
static unsigned coded(const struct x86_op *op)
{
	return (op->opcode & 7u) | (op->rex & X86_OP_REX_B) << 3;
}

static struct known_bits number(const struct x86_op *op, unsigned bytes)
{
	return known_bits_of((uint64_t)op->imm, bytes);
}

static struct known_bits carry(const struct x86_machine *m)
{
	return (struct known_bits){ m->flags.bits & 1, m->flags.known & 1 };
}

static void set_result_flags(struct x86_step *s, const struct x86_result *r)
{
	x86_machine_set_flags(s->m, r->flags, r->changed);
}

/* Of a register with itself, whatever is in it. */
static bool is_of_one(const struct x86_step *s, bool is_between_regs)
{
	return is_between_regs && s->op->mod == 3 && s->op->reg == s->op->rm;
}

static struct x86_result compute(struct x86_step *s, enum x86_alu_arithmetic what,
				 struct known_bits a, struct known_bits b,
				 bool is_between_regs, unsigned bytes)
{
	bool is_difference = what == X86_ALU_SUB || what == X86_ALU_SBB ||
			     what == X86_ALU_XOR || what == X86_ALU_CMP;
	struct x86_result r;

	if (is_difference && is_of_one(s, is_between_regs))
		a = b = known_bits_of(0, bytes);
	r = x86_alu_arithmetic(what, a, b, carry(s->m), bytes);
	set_result_flags(s, &r);
	return r;
}

/* The six forms of each row below 0x40. */
static void arithmetic_row(struct x86_step *s)
{
	const struct x86_op *op = s->op;
	enum x86_alu_arithmetic what = op->opcode >> 3 & 7;
	unsigned form = op->opcode & 7, bytes = sized(s);
	struct known_bits a, b;
	struct x86_result r;

	if (form >= 4) {
		a = x86_machine_reg(s, RAX, bytes);
		r = compute(s, what, a, number(op, bytes), false, bytes);
		if (what != X86_ALU_CMP)
			x86_machine_set_reg(s, RAX, bytes, r.value);
		return;
	}
	a = x86_machine_rm(s, bytes);
	b = x86_machine_reg(s, op->reg, bytes);
	r = form < 2 ? compute(s, what, a, b, true, bytes)
		     : compute(s, what, b, a, true, bytes);
	if (what == X86_ALU_CMP)
		return;
	if (form < 2)
		x86_machine_set_rm(s, bytes, r.value);
	else
		x86_machine_set_reg(s, op->reg, bytes, r.value);
}

/* 0x80 to 0x83 */
static void arithmetic_number(struct x86_step *s)
{
	enum x86_alu_arithmetic what = s->op->reg & 7;
	unsigned bytes = sized(s);
	struct x86_result r = compute(s, what, x86_machine_rm(s, bytes),
				      number(s->op, bytes), false, bytes);

	if (what != X86_ALU_CMP)
		x86_machine_set_rm(s, bytes, r.value);
}

static void test(struct x86_step *s, struct known_bits a, struct known_bits b,
		 unsigned bytes)
{
	struct x86_result r = x86_alu_arithmetic(X86_ALU_AND, a, b, carry(s->m), bytes);

	set_result_flags(s, &r);
}

/* inc and dec leave the carry. */
static void count(struct x86_step *s, bool is_down, unsigned bytes)
{
	struct x86_result r = x86_alu_arithmetic(
		is_down ? X86_ALU_SUB : X86_ALU_ADD, x86_machine_rm(s, bytes),
		known_bits_of(1, bytes), carry(s->m), bytes);

	r.changed &= ~(uint32_t)X86_ALU_C;
	set_result_flags(s, &r);
	x86_machine_set_rm(s, bytes, r.value);
}

static void shift(struct x86_step *s, struct known_bits by)
{
	unsigned bytes = sized(s);
	struct x86_result r =
		x86_alu_shift(s->op->reg & 7, x86_machine_rm(s, bytes), by, bytes);

	set_result_flags(s, &r);
	x86_machine_set_rm(s, bytes, r.value);
}

/* Halves of a wide number: rdx and rax, or ah and al. */
static void set_wide(struct x86_step *s, struct known_bits high, struct known_bits low,
		     unsigned bytes)
{
	if (bytes == 1) {
		low.bits |= high.bits << 8;
		low.known |= high.known << 8;
		x86_machine_set_reg(s, RAX, 2, low);
		return;
	}
	x86_machine_set_reg(s, RAX, bytes, low);
	x86_machine_set_reg(s, RDX, bytes, high);
}

static void multiply_wide(struct x86_step *s, bool is_signed, unsigned bytes)
{
	struct known_bits high;
	struct x86_result r = x86_alu_multiply(is_signed, x86_machine_reg(s, RAX, bytes),
					       x86_machine_rm(s, bytes), bytes, &high);

	set_result_flags(s, &r);
	set_wide(s, high, r.value, bytes);
}

/* False: it faults. */
static bool divide(struct x86_step *s, bool is_signed, unsigned bytes)
{
	enum x86_alu_division how = X86_ALU_TOO_WIDE;
	struct known_bits low = x86_machine_reg(s, RAX, bytes);
	struct known_bits high = x86_machine_reg(s, RDX, bytes);
	struct known_bits by = x86_machine_rm(s, bytes), unknown = { 0, 0 };
	uint64_t quotient, rest;

	if (bytes == 1) {
		high = x86_machine_reg(s, RAX, 2);
		high.bits >>= 8;
		high.known >>= 8;
	}
	if (known_bits_is_whole(low, bytes) && known_bits_is_whole(high, bytes) &&
	    known_bits_is_whole(by, bytes))
		how = x86_alu_divide(is_signed, high.bits, low.bits, by.bits, bytes,
				     &quotient, &rest);
	if (how == X86_ALU_REFUSED)
		return false;
	x86_machine_set_flags(s->m, unknown, X86_ALU_FLAGS);
	if (how == X86_ALU_DIVIDED)
		set_wide(s, known_bits_of(rest, bytes), known_bits_of(quotient, bytes),
			 bytes);
	else
		set_wide(s, unknown, unknown, bytes);
	return true;
}

/* 0xf6 and 0xf7: test test not neg mul imul div idiv */
static bool group3(struct x86_step *s)
{
	unsigned bytes = sized(s), what = s->op->reg & 7;
	struct known_bits v = x86_machine_rm(s, bytes);
	struct x86_result r;

	switch (what) {
	case 0:
	case 1:
		test(s, v, number(s->op, bytes), bytes);
		return true;
	case 2:
		v.bits = ~v.bits & v.known;
		x86_machine_set_rm(s, bytes, v);
		return true;
	case 3:
		r = x86_alu_arithmetic(X86_ALU_SUB, known_bits_of(0, bytes), v,
				       carry(s->m), bytes);
		set_result_flags(s, &r);
		x86_machine_set_rm(s, bytes, r.value);
		return true;
	case 4:
	case 5:
		multiply_wide(s, what == 5, bytes);
		return true;
	default:
		return divide(s, what == 7, bytes);
	}
}

/* With two factors, the second of which is the first register unless there are three. */
static void multiply(struct x86_step *s, struct known_bits by)
{
	unsigned bytes = s->operand_bytes;
	struct known_bits high;
	struct x86_result r =
		x86_alu_multiply(true, x86_machine_rm(s, bytes), by, bytes, &high);

	set_result_flags(s, &r);
	x86_machine_set_reg(s, s->op->reg, bytes, r.value);
}

static void extend(struct x86_step *s, unsigned from, bool is_signed)
{
	struct known_bits v = x86_machine_rm(s, from);

	if (is_signed)
		v = known_bits_sign_extend(v, from, 8);
	else
		v.known |= ~known_bits_mask(from);
	x86_machine_set_reg(s, s->op->reg, s->operand_bytes, v);
}

/* cbw, cwde, cdqe; cwd, cdq, cqo */
static void extend_rax(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes;
	struct known_bits v = x86_machine_reg(s, RAX, bytes);

	if (s->op->opcode == 0x98) {
		v = known_bits_sign_extend(v, bytes / 2, 8);
		x86_machine_set_reg(s, RAX, bytes, v);
		return;
	}
	v = known_bits_sign_extend(v, bytes, 8);
	v.bits = 0 - (v.bits >> 63);
	v.known = 0 - (v.known >> 63);
	x86_machine_set_reg(s, RDX, bytes, v);
}

static void exchange(struct x86_step *s, unsigned bytes)
{
	struct known_bits v = x86_machine_rm(s, bytes);
	struct known_bits w = x86_machine_reg(s, s->op->reg, bytes);

	x86_machine_set_rm(s, bytes, w);
	x86_machine_set_reg(s, s->op->reg, bytes, v);
}

/* 0x90 to 0x97, of which the first is nop and pause */
static bool exchange_rax(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes, reg = coded(s->op);
	struct known_bits v = x86_machine_reg(s, reg, bytes);

	if (reg == RAX)
		return true;
	if (s->op->opcode == 0x90 && s->op->repeat)
		return x86_blur(s);
	x86_machine_set_reg(s, reg, bytes, x86_machine_reg(s, RAX, bytes));
	x86_machine_set_reg(s, RAX, bytes, v);
	return true;
}

/* Of push and pop, which have no 4 bytes. */
static unsigned stack_bytes(const struct x86_step *s)
{
	return s->operand_bytes == 2 ? 2 : 8;
}

static void push_or_pop(struct x86_step *s)
{
	unsigned bytes = stack_bytes(s), reg = coded(s->op);

	if (s->op->opcode < 0x58) {
		x86_machine_push(s->m, bytes, x86_machine_reg(s, reg, bytes));
		return;
	}
	x86_machine_set_reg(s, reg, bytes, x86_machine_pop(s->m, bytes));
}

/* Of what is pushed, only some is known; what is popped may be refused in part. */
static void push_or_pop_flags(struct x86_step *s)
{
	unsigned bytes = stack_bytes(s);

	if (s->op->opcode == 0x9c)
		x86_machine_push(s->m, bytes, s->m->flags);
	else
		x86_machine_set_flags(s->m, x86_machine_pop(s->m, bytes),
				      X86_MACHINE_FLAGS);
}

/* An address on the stack is that after the pop. */
static void pop_rm(struct x86_step *s)
{
	unsigned bytes = stack_bytes(s);
	struct known_bits v = x86_machine_pop(s->m, bytes);

	if (s->op->mod != 3 && s->op->base == X86_OP_RSP)
		s->addr = (struct known_bits){ 0, 0 };
	x86_machine_set_rm(s, bytes, v);
}

static void leave(struct x86_step *s)
{
	unsigned bytes = stack_bytes(s);

	s->m->regs[X86_OP_RSP] = s->m->regs[X86_OP_RBP];
	x86_machine_set_reg(s, X86_OP_RBP, bytes, x86_machine_pop(s->m, bytes));
}

/* clc stc cli sti cld std, of which two are not for programs; cmc */
static bool set_flag(struct x86_step *s)
{
	uint8_t code = s->op->opcode;
	uint32_t flag = code < 0xfa ? X86_ALU_C : X86_MACHINE_D;
	struct known_bits v = { code & 1 ? flag : 0, flag };

	if (code == 0xf5) {
		v.known = s->m->flags.known & X86_ALU_C;
		v.bits = ~s->m->flags.bits & v.known;
		flag = X86_ALU_C;
	} else if (code == 0xfa || code == 0xfb) {
		return false;
	}
	x86_machine_set_flags(s->m, v, flag);
	return true;
}

/* sahf, lahf: ah is 8 flags, of which bit 1 is always set and two never are. */
static void flags_and_ah(struct x86_step *s)
{
	const uint32_t flags = X86_ALU_FLAGS & 0xff;
	struct known_bits *rax = &s->m->regs[RAX];
	struct known_bits v = { rax->bits >> 8, rax->known >> 8 };

	if (s->op->opcode == 0x9e) {
		x86_machine_set_flags(s->m, v, flags);
		return;
	}
	v.bits = (s->m->flags.bits & flags) | 2;
	v.known = (s->m->flags.known & flags) | 0x2a;
	rax->bits = (rax->bits & ~0xff00ULL) | v.bits << 8;
	rax->known = (rax->known & ~0xff00ULL) | v.known << 8;
}

/* 0xfe and 0xff: inc dec; push */
static bool group45(struct x86_step *s)
{
	unsigned what = s->op->reg & 7, bytes = stack_bytes(s);

	if (what < 2) {
		count(s, what == 1, sized(s));
		return true;
	}
	if (what != 6 || s->op->opcode == 0xfe)
		return false;
	x86_machine_push(s->m, bytes, x86_machine_rm(s, bytes));
	return true;
}

static bool execute_moves(struct x86_step *s)
{
	const struct x86_op *op = s->op;
	unsigned bytes = sized(s);

	switch (op->opcode) {
	case 0x63:
		if (s->operand_bytes == 2)
			return x86_blur(s);
		extend(s, 4, true);
		return true;
	case 0x86:
	case 0x87:
		exchange(s, bytes);
		return true;
	case 0x88:
	case 0x89:
		x86_machine_set_rm(s, bytes, x86_machine_reg(s, op->reg, bytes));
		return true;
	case 0x8a:
	case 0x8b:
		x86_machine_set_reg(s, op->reg, bytes, x86_machine_rm(s, bytes));
		return true;
	case 0x8d:
		x86_machine_set_reg(s, op->reg, s->operand_bytes, s->place);
		return true;
	case 0x8f:
		return pop_rm(s), true;
	case 0xb0 ... 0xb7:
		x86_machine_set_reg(s, coded(op), 1, number(op, 1));
		return true;
	case 0xb8 ... 0xbf:
		x86_machine_set_reg(s, coded(op), s->operand_bytes, number(op, 8));
		return true;
	case 0xc6:
	case 0xc7:
		if (op->reg & 7)
			return false; /* of transactions */
		x86_machine_set_rm(s, bytes, number(op, bytes));
		return true;
	default:
		return x86_blur(s);
	}
}

static bool execute_one(struct x86_step *s)
{
	const struct x86_op *op = s->op;
	unsigned bytes = sized(s);

	if (op->opcode < 0x40)
		return arithmetic_row(s), true;
	switch (op->opcode) {
	case 0x50 ... 0x5f:
		return push_or_pop(s), true;
	case 0x68:
	case 0x6a:
		x86_machine_push(s->m, stack_bytes(s), number(op, 8));
		return true;
	case 0x69:
	case 0x6b:
		return multiply(s, number(op, s->operand_bytes)), true;
	case 0x80 ... 0x83:
		return arithmetic_number(s), true;
	case 0x84:
	case 0x85:
		test(s, x86_machine_rm(s, bytes), x86_machine_reg(s, op->reg, bytes),
		     bytes);
		return true;
	case 0x90 ... 0x97:
		return exchange_rax(s);
	case 0x98:
	case 0x99:
		return extend_rax(s), true;
	case 0x9c:
	case 0x9d:
		return push_or_pop_flags(s), true;
	case 0x9e:
	case 0x9f:
		return flags_and_ah(s), true;
	case 0xa4 ... 0xa5:
	case 0xaa ... 0xad:
		return x86_string(s) || x86_blur(s);
	case 0xa8:
	case 0xa9:
		test(s, x86_machine_reg(s, RAX, bytes), number(op, bytes), bytes);
		return true;
	case 0xc0:
	case 0xc1:
		return shift(s, number(op, 1)), true;
	case 0xd0:
	case 0xd1:
		return shift(s, known_bits_of(1, 1)), true;
	case 0xd2:
	case 0xd3:
		return shift(s, known_bits_part(s->m->regs[X86_OP_RCX], 1)), true;
	case 0xc9:
		return leave(s), true;
	case 0xf5:
	case 0xf8 ... 0xfd:
		return set_flag(s);
	case 0xf6:
	case 0xf7:
		return group3(s);
	case 0xfe:
	case 0xff:
		return group45(s);
	default:
		return execute_moves(s);
	}
}

static void set_condition(struct x86_step *s)
{
	struct known_bits v = x86_machine_condition(s->m, s->op->opcode & 15);

	v.known |= 0xfe;
	x86_machine_set_rm(s, 1, v);
}

static void move_on_condition(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes;
	struct known_bits is = x86_machine_condition(s->m, s->op->opcode & 15);
	struct known_bits was = x86_machine_reg(s, s->op->reg, bytes);
	struct known_bits v = x86_machine_rm(s, bytes);

	if (!is.known)
		v = known_bits_either(v, was);
	else if (!is.bits)
		v = was;
	x86_machine_set_reg(s, s->op->reg, bytes, v);
}

/* In memory; what becomes of registers' upper halves differs. */
static bool compare_exchange(struct x86_step *s)
{
	unsigned bytes = sized(s);
	struct known_bits was = x86_machine_rm(s, bytes);
	struct known_bits rax = x86_machine_reg(s, RAX, bytes);
	struct known_bits v = x86_machine_reg(s, s->op->reg, bytes), is;
	struct x86_result r;

	if (s->op->mod == 3)
		return x86_blur(s);
	r = x86_alu_arithmetic(X86_ALU_CMP, rax, was, carry(s->m), bytes);
	set_result_flags(s, &r);
	is = x86_machine_condition(s->m, 4);
	if (!is.known) {
		x86_machine_set_rm(s, bytes, known_bits_either(v, was));
		s->m->regs[RAX] = (struct known_bits){ 0, 0 };
	} else if (is.bits) {
		x86_machine_set_rm(s, bytes, v);
	} else {
		x86_machine_set_rm(s, bytes, was);
		x86_machine_set_reg(s, RAX, bytes, was);
	}
	return true;
}

static void exchange_add(struct x86_step *s)
{
	unsigned bytes = sized(s);
	struct known_bits was = x86_machine_rm(s, bytes);
	struct x86_result r = x86_alu_arithmetic(X86_ALU_ADD, was,
						 x86_machine_reg(s, s->op->reg, bytes),
						 carry(s->m), bytes);

	set_result_flags(s, &r);
	x86_machine_set_reg(s, s->op->reg, bytes, was);
	x86_machine_set_rm(s, bytes, r.value);
}

static void swap_bytes(struct x86_step *s)
{
	unsigned reg = coded(s->op), bytes = s->operand_bytes;
	struct known_bits v = x86_machine_reg(s, reg, bytes);

	v.bits = __builtin_bswap64(v.bits) >> (64 - 8 * bytes);
	v.known = __builtin_bswap64(v.known) >> (64 - 8 * bytes);
	if (bytes == 2)
		v = (struct known_bits){ 0, 0 }; /* undefined */
	x86_machine_set_reg(s, reg, bytes, v);
}

static void shift_both(struct x86_step *s)
{
	unsigned bytes = s->operand_bytes;
	struct known_bits by = s->op->opcode & 1
				       ? known_bits_part(s->m->regs[X86_OP_RCX], 1)
				       : number(s->op, 1);
	struct x86_result r =
		x86_alu_shift_both(s->op->opcode >= 0xac, x86_machine_rm(s, bytes),
				   x86_machine_reg(s, s->op->reg, bytes), by, bytes);

	set_result_flags(s, &r);
	x86_machine_set_rm(s, bytes, r.value);
}

static bool execute_0f(struct x86_step *s)
{
	const struct x86_op *op = s->op;

	switch (op->opcode) {
	case 0x0d:
	case 0x18 ... 0x19:
	case 0x1c ... 0x1d:
	case 0x1f:
		return true; /* nop and prefetch */
	case 0x1e:
		if (op->repeat == 0xf3 && op->mod == 3 && (op->reg & 7) == 1)
			return x86_blur(s); /* rdssp */
		return true;
	case 0x40 ... 0x4f:
		return move_on_condition(s), true;
	case 0x90 ... 0x9f:
		return set_condition(s), true;
	case 0xa4 ... 0xa5:
	case 0xac ... 0xad:
		return shift_both(s), true;
	case 0xa3:
	case 0xab:
	case 0xb3:
	case 0xba ... 0xbb:
		return x86_bits_test(s);
	case 0xae:
		if (op->mod == 3 && (op->reg & 7) >= 5 && !op->repeat && !op->has_66)
			return true; /* fences */
		return x86_blur(s);
	case 0xaf:
		return multiply(s, x86_machine_reg(s, op->reg, s->operand_bytes)), true;
	case 0xb0 ... 0xb1:
		return compare_exchange(s);
	case 0xb6 ... 0xb7:
		return extend(s, op->opcode & 1 ? 2 : 1, false), true;
	case 0xb8:
	case 0xbc ... 0xbd:
		return x86_bits_count(s) || x86_blur(s);
	case 0xbe ... 0xbf:
		return extend(s, op->opcode & 1 ? 2 : 1, true), true;
	case 0xc0 ... 0xc1:
		return exchange_add(s), true;
	case 0xc3:
		x86_machine_set_rm(s, s->operand_bytes,
				   x86_machine_reg(s, op->reg, s->operand_bytes));
		return true; /* movnti */
	case 0xc8 ... 0xcf:
		return swap_bytes(s), true;
	default:
		return x86_blur(s);
	}
}

bool x86_execute(struct x86_step *s)
{
	if (s->op->is_vector)
		return x86_bits_vex(s) || x86_blur(s);
	switch (s->op->map) {
	case X86_OP_ONE:
		return execute_one(s);
	case X86_OP_0F:
		return execute_0f(s);
	default:
		return x86_blur(s);
	}
}
