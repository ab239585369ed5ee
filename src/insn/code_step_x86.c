/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <string.h>

#include "decode/x86_flags.h"
#include "decode/x86_flow.h"
#include "decode/x86_op.h"
#include "decode/x86_writes.h"
#include "insn/code_step.h"

/* rax, rcx, rdx, rsi, rdi, r8 to r11: what a call may change. */
#define CHANGED_BY_CALLS 0x0fc7u

static const uint8_t flows[] = {
	[X86_FLOW_ON] = CODE_STEP_ON,		[X86_FLOW_CONDITIONAL] = CODE_STEP_BRANCH,
	[X86_FLOW_LOOP] = CODE_STEP_BRANCH,	[X86_FLOW_TRANSACTION] = CODE_STEP_BRANCH,
	[X86_FLOW_JUMP] = CODE_STEP_JUMP,	[X86_FLOW_CALL] = CODE_STEP_CALL,
	[X86_FLOW_JUMP_TO] = CODE_STEP_JUMP_TO, [X86_FLOW_CALL_TO] = CODE_STEP_CALL_TO,
	[X86_FLOW_RETURN] = CODE_STEP_RETURN,	[X86_FLOW_SYSCALL] = CODE_STEP_ON,
	[X86_FLOW_INT80] = CODE_STEP_ON,	[X86_FLOW_FAR] = CODE_STEP_RETURN,
	[X86_FLOW_TRAP] = CODE_STEP_ON,		[X86_FLOW_NEVER] = CODE_STEP_STOP,
};

static bool read_op(const uint8_t *code, size_t size, struct x86_op *ret)
{
	uint8_t copy[X86_OP_MAX_BYTES] = { 0 };

	if (size >= sizeof(copy))
		return x86_op_read(code, ret);
	memcpy(copy, code, size);
	return x86_op_read(copy, ret) && ret->size <= size;
}

/* Of the instructions that do nothing, those that fill up; a row of 0 is none at all. */
static bool is_padding(const uint8_t *code, const struct x86_op *op)
{
	if (op->map == X86_OP_ONE && !op->is_vector)
		return (op->opcode == 0x90 && op->repeat != 0xf3 &&
			!(op->rex & X86_OP_REX_B)) ||
		       op->opcode == 0xcc ||
		       (op->opcode == 0 && op->size == 2 && !code[1]);
	return op->map == X86_OP_0F && !op->is_vector && op->opcode == 0x1f;
}

static bool read_x86(const uint8_t *code, size_t size, uint64_t address,
		     struct code_step *ret)
{
	struct x86_op op;
	enum x86_flow flow;

	if (!size || !read_op(code, size, &op))
		return false;
	flow = x86_flow_of(&op);
	*ret = (struct code_step){ .address = address,
				   .size = op.size,
				   .flow = flows[flow],
				   .is_padding = is_padding(code, &op) };
	if (flow >= X86_FLOW_CONDITIONAL && flow <= X86_FLOW_CALL)
		ret->target = address + op.size + (uint64_t)op.imm;
	return true;
}

static uint8_t index_of(const uint8_t *code, const struct x86_op *op)
{
	if (!op->has_index)
		return CODE_STEP_NO_REGISTER;
	return (uint8_t)((code[op->modrm_off + 1] >> 3 & 7) |
			 (op->rex & X86_OP_REX_X ? 8 : 0));
}

/* The memory operand; `segment` ones are somewhere else. */
static struct code_step_place place_of(const uint8_t *code, const struct code_step *step,
				       const struct x86_op *op)
{
	struct code_step_place p = {
		.offset = op->disp,
		.base = op->base == X86_OP_NO_REG ? CODE_STEP_NO_REGISTER : op->base,
		.index = index_of(code, op),
	};

	if (op->has_index)
		p.shift = code[op->modrm_off + 1] >> 6;
	if (op->is_rip_relative)
		p.offset += (int64_t)(step->address + step->size);
	return p;
}

/* A register of a byte that is not the lowest of its whole one. */
static bool is_high(const struct x86_op *op, uint8_t reg)
{
	return !op->has_rex && !op->is_vector && reg >= 4 && reg < 8;
}

static void set_from_register(struct code_step_effect *e, uint8_t to, uint8_t from)
{
	e->kind = CODE_STEP_EFFECT_SET;
	e->to = to;
	e->place =
		(struct code_step_place){ .base = from, .index = CODE_STEP_NO_REGISTER };
}

static void set_to(struct code_step_effect *e, uint8_t to, int64_t value)
{
	set_from_register(e, to, CODE_STEP_NO_REGISTER);
	e->place.offset = value;
}

/* mov and its kin: bytes of the source become the register. */
static void take_source(const struct x86_op *op, uint8_t bytes, bool is_signed,
			struct code_step_effect *e)
{
	if (op->mod == 3 && bytes == 1 && is_high(op, op->rm))
		return;
	if (op->mod == 3)
		set_from_register(e, op->reg, op->rm);
	else
		e->kind = CODE_STEP_EFFECT_LOAD;
	e->to = op->reg;
	e->bytes = bytes;
	e->is_signed = is_signed;
}

static void store(const struct x86_op *op, uint8_t bytes, struct code_step_effect *e)
{
	if (op->mod == 3) {
		if (bytes > 1)
			set_from_register(e, op->rm, op->reg);
		return;
	}
	e->kind = CODE_STEP_EFFECT_STORE;
	e->from = op->reg;
	e->bytes = bytes;
}

static void compare(const struct x86_op *op, bool is_immediate,
		    struct code_step_effect *e)
{
	e->kind = CODE_STEP_EFFECT_COMPARE;
	e->is_memory = op->mod != 3;
	e->from = e->is_memory ? CODE_STEP_NO_REGISTER : op->rm;
	e->with = is_immediate ? CODE_STEP_NO_REGISTER : op->reg;
	e->value = (uint64_t)op->imm;
}

/* add, or, adc, sbb, and, sub, xor, cmp of an immediate. */
static void group1(const struct x86_op *op, uint8_t width, struct code_step_effect *e)
{
	unsigned what = op->reg & 7;

	(void)width;
	if (what == 7)
		compare(op, true, e);
	else if (op->mod != 3)
		return;
	else if (what == 4) {
		e->kind = CODE_STEP_EFFECT_LIMIT;
		e->to = e->from = op->rm;
		e->value = (uint64_t)op->imm;
	} else if (what == 0 || what == 5) {
		set_from_register(e, op->rm, op->rm);
		e->place.offset = what ? -op->imm : op->imm;
	}
}

/* The same of al or eax, without ModRM. */
static void of_accumulator(const struct x86_op *op, uint8_t width,
			   struct code_step_effect *e)
{
	struct x86_op as_group = *op;

	as_group.mod = 3;
	as_group.rm = X86_OP_RAX;
	as_group.reg = op->opcode >> 3;
	group1(&as_group, width, e);
}

static void add_registers(uint8_t to, uint8_t other, struct code_step_effect *e)
{
	set_from_register(e, to, to);
	e->place.index = other;
}

static void shift_left(const struct x86_op *op, uint8_t by, struct code_step_effect *e)
{
	if (op->mod != 3 || (op->reg & 7) != 4 || by > 8)
		return;
	e->kind = CODE_STEP_EFFECT_SET;
	e->to = op->rm;
	e->place = (struct code_step_place){ .base = CODE_STEP_NO_REGISTER,
					     .index = op->rm,
					     .shift = by };
}

static const uint8_t conditions[16] = {
	[2] = CODE_STEP_CONDITION_BELOW,      [3] = CODE_STEP_CONDITION_NOT_BELOW,
	[6] = CODE_STEP_CONDITION_NOT_ABOVE,  [7] = CODE_STEP_CONDITION_ABOVE,
	[12] = CODE_STEP_CONDITION_BELOW,     [13] = CODE_STEP_CONDITION_NOT_BELOW,
	[14] = CODE_STEP_CONDITION_NOT_ABOVE, [15] = CODE_STEP_CONDITION_ABOVE,
};

static void effect_0f(const struct x86_op *op, struct code_step_effect *e)
{
	if ((op->opcode & 0xf0) == 0x80) {
		e->kind = CODE_STEP_EFFECT_BRANCH;
		e->condition = conditions[op->opcode & 15];
	} else if (op->opcode == 0xb6 || op->opcode == 0xb7) {
		take_source(op, op->opcode & 1 ? 2 : 1, false, e);
	} else if (op->opcode == 0xbe || op->opcode == 0xbf) {
		take_source(op, op->opcode & 1 ? 2 : 1, true, e);
	}
}

/* By opcode, with the bytes of the operands. */

static void add(const struct x86_op *op, uint8_t width, struct code_step_effect *e)
{
	(void)width;
	if (op->mod == 3 && op->opcode == 0x01)
		add_registers(op->rm, op->reg, e);
	else if (op->mod == 3)
		add_registers(op->reg, op->rm, e);
}

static void clear(const struct x86_op *op, uint8_t width, struct code_step_effect *e)
{
	(void)width;
	if (op->mod == 3 && op->reg == op->rm)
		set_to(e, op->reg, 0);
}

static void compare_with(const struct x86_op *op, uint8_t width,
			 struct code_step_effect *e)
{
	(void)width;
	compare(op, false, e);
}

static void extend_long(const struct x86_op *op, uint8_t width,
			struct code_step_effect *e)
{
	(void)width;
	take_source(op, 4, true, e);
}

static void branch(const struct x86_op *op, uint8_t width, struct code_step_effect *e)
{
	(void)width;
	e->kind = CODE_STEP_EFFECT_BRANCH;
	e->condition = conditions[op->opcode & 15];
}

static void store_from(const struct x86_op *op, uint8_t width, struct code_step_effect *e)
{
	store(op, op->opcode & 1 ? width : 1, e);
}

static void load_to(const struct x86_op *op, uint8_t width, struct code_step_effect *e)
{
	if (op->opcode & 1)
		take_source(op, width, false, e);
	else if (!is_high(op, op->reg))
		take_source(op, 1, false, e);
}

static void set_address(const struct x86_op *op, uint8_t width,
			struct code_step_effect *e)
{
	(void)width;
	if (op->mod != 3)
		e->kind = CODE_STEP_EFFECT_SET;
	e->to = op->reg;
}

static void extend_accumulator(const struct x86_op *op, uint8_t width,
			       struct code_step_effect *e)
{
	(void)op;
	set_from_register(e, X86_OP_RAX, X86_OP_RAX);
	e->bytes = width / 2;
	e->is_signed = true;
}

static void set_constant(const struct x86_op *op, uint8_t width,
			 struct code_step_effect *e)
{
	set_to(e, op->rm, width == 8 ? op->imm : (int64_t)(uint32_t)op->imm);
}

static void set_extended(const struct x86_op *op, uint8_t width,
			 struct code_step_effect *e)
{
	(void)width;
	if (op->mod == 3 && !(op->reg & 7))
		set_to(e, op->rm, op->imm);
}

static void shift(const struct x86_op *op, uint8_t width, struct code_step_effect *e)
{
	(void)width;
	shift_left(op, op->opcode == 0xd1 ? 1 : (uint8_t)op->imm, e);
}

static void jump(const struct x86_op *op, uint8_t width, struct code_step_effect *e)
{
	(void)width;
	if ((op->reg & 7) != 4)
		return;
	e->kind = CODE_STEP_EFFECT_JUMP;
	e->is_memory = op->mod != 3;
	e->bytes = 8;
	if (!e->is_memory)
		e->place.base = op->rm;
}

typedef void effect_fn(const struct x86_op *op, uint8_t width,
		       struct code_step_effect *e);

/* What compilers compute targets with. */
static effect_fn *const of_one[256] = {
	[0x01] = add,
	[0x03] = add,
	[0x04] = of_accumulator,
	[0x05] = of_accumulator,
	[0x24] = of_accumulator,
	[0x25] = of_accumulator,
	[0x2c] = of_accumulator,
	[0x2d] = of_accumulator,
	[0x31] = clear,
	[0x33] = clear,
	[0x38] = compare_with,
	[0x39] = compare_with,
	[0x3c] = of_accumulator,
	[0x3d] = of_accumulator,
	[0x63] = extend_long,
	[0x70 ... 0x7f] = branch,
	[0x80] = group1,
	[0x81] = group1,
	[0x83] = group1,
	[0x88] = store_from,
	[0x89] = store_from,
	[0x8a] = load_to,
	[0x8b] = load_to,
	[0x8d] = set_address,
	[0x98] = extend_accumulator,
	[0xb8 ... 0xbf] = set_constant,
	[0xc1] = shift,
	[0xc7] = set_extended,
	[0xd1] = shift,
	[0xff] = jump,
};

static void effect_x86(const uint8_t *code, const struct code_step *step,
		       struct code_step_effect *e)
{
	struct x86_op op;

	*e = (struct code_step_effect){ .to = CODE_STEP_NO_REGISTER,
					.from = CODE_STEP_NO_REGISTER,
					.with = CODE_STEP_NO_REGISTER,
					.place = { .base = CODE_STEP_NO_REGISTER,
						   .index = CODE_STEP_NO_REGISTER } };
	if (!read_op(code, step->size, &op))
		return;
	if (step->flow == CODE_STEP_CALL || step->flow == CODE_STEP_CALL_TO) {
		e->changed = CHANGED_BY_CALLS;
		e->changes_flags = true;
		return;
	}
	e->changed = x86_writes(&op);
	e->changes_flags = x86_flags_of(&op).set;
	if (op.modrm_off && op.mod != 3)
		e->place = place_of(code, step, &op);
	if (op.is_vector || op.has_odd_address)
		return;
	if (op.map == X86_OP_ONE && of_one[op.opcode])
		of_one[op.opcode](&op, op.is_64 ? 8 : op.has_66 ? 2 : 4, e);
	else if (op.map == X86_OP_0F)
		effect_0f(&op, e);
	if (e->to != CODE_STEP_NO_REGISTER)
		e->changed &= ~(1u << e->to);
	if (e->kind == CODE_STEP_EFFECT_COMPARE)
		e->changes_flags = false;
}

const struct code_step_machine code_step_x86 = {
	.number = EM_X86_64,
	.unit_bytes = 1,
	.stack_register = X86_OP_RSP,
	.changed_by_calls = CHANGED_BY_CALLS,
	.read = read_x86,
	.effect = effect_x86,
};
