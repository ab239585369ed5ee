/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfa_expr.h"

#include "unwind/abi.h"
#include "unwind/eh_cursor.h"

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	const struct cfa_expr_input *in;
	const uint8_t *bytes;
	struct eh_cursor c;
	uint64_t stack[CFA_EXPR_STACK];
	unsigned depth;
	enum cfa_expr_result result;
	uint64_t fault_addr;
};

static void fail(struct machine *m, enum cfa_expr_result result)
{
	if (m->result == CFA_EXPR_OK)
		m->result = result;
}

static void push(struct machine *m, uint64_t v)
{
	if (m->depth == CFA_EXPR_STACK)
		fail(m, CFA_EXPR_BAD);
	else
		m->stack[m->depth++] = v;
}

/* The n-th value from the top, in place; a harmless place when there is none. */
static uint64_t *peek(struct machine *m, unsigned n)
{
	if (n >= m->depth) {
		fail(m, CFA_EXPR_BAD);
		return &m->stack[0];
	}
	return &m->stack[m->depth - 1 - n];
}

static uint64_t pop(struct machine *m)
{
	uint64_t v = *peek(m, 0);

	if (m->depth)
		m->depth--;
	return v;
}

static void push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= UNWIND_N_REGS)
		fail(m, CFA_EXPR_BAD);
	else if (!(m->in->regs->valid & abi_bit((unsigned)reg)))
		fail(m, CFA_EXPR_NO_VALUE);
	else
		push(m, m->in->regs->r[reg] + (uint64_t)offset);
}

static void deref(struct machine *m, unsigned size)
{
	uint64_t addr = pop(m), v;

	if (size == 0 || size > 8 || (size & (size - 1)))
		fail(m, CFA_EXPR_BAD);
	if (m->result != CFA_EXPR_OK)
		return;
	if (!stack_memory_word(m->in->memory, addr, &v)) {
		m->fault_addr = addr;
		fail(m, CFA_EXPR_MEMORY);
		return;
	}
	push(m, size == 8 ? v : v & ((UINT64_C(1) << size * 8) - 1));
}

static void jump(struct machine *m, int16_t delta, bool is_taken)
{
	if (!is_taken)
		return;

	int64_t to = (m->c.at - m->bytes) + delta;

	if (to < 0 || to > m->c.end - m->bytes)
		fail(m, CFA_EXPR_BAD);
	else
		m->c.at = m->bytes + to;
}

static bool run_constant(struct machine *m, uint8_t op)
{
	struct eh_cursor *c = &m->c;

	switch (op) {
	case OP_CONST1U:
		push(m, eh_cursor_u8(c));
		return true;
	case OP_CONST1S:
		push(m, (uint64_t)(int8_t)eh_cursor_u8(c));
		return true;
	case OP_CONST2U:
		push(m, eh_cursor_u16(c));
		return true;
	case OP_CONST2S:
		push(m, (uint64_t)(int16_t)eh_cursor_u16(c));
		return true;
	case OP_CONST4U:
		push(m, eh_cursor_u32(c));
		return true;
	case OP_CONST4S:
		push(m, (uint64_t)(int32_t)eh_cursor_u32(c));
		return true;
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S:
		push(m, eh_cursor_u64(c));
		return true;
	case OP_CONSTU:
		push(m, eh_cursor_uleb(c));
		return true;
	case OP_CONSTS:
		push(m, (uint64_t)eh_cursor_sleb(c));
		return true;
	default:
		return false;
	}
}

static bool run_stack(struct machine *m, uint8_t op)
{
	uint64_t v;

	switch (op) {
	case OP_DUP:
		push(m, *peek(m, 0));
		return true;
	case OP_DROP:
		pop(m);
		return true;
	case OP_OVER:
		push(m, *peek(m, 1));
		return true;
	case OP_PICK:
		push(m, *peek(m, eh_cursor_u8(&m->c)));
		return true;
	case OP_SWAP:
		v = *peek(m, 0);
		*peek(m, 0) = *peek(m, 1);
		*peek(m, 1) = v;
		return true;
	case OP_ROT:
		v = *peek(m, 0);
		*peek(m, 0) = *peek(m, 1);
		*peek(m, 1) = *peek(m, 2);
		*peek(m, 2) = v;
		return true;
	default:
		return false;
	}
}

static bool run_unary(struct machine *m, uint8_t op)
{
	uint64_t *v;

	switch (op) {
	case OP_ABS:
		v = peek(m, 0);
		*v = (int64_t)*v < 0 ? -*v : *v;
		return true;
	case OP_NEG:
		v = peek(m, 0);
		*v = -*v;
		return true;
	case OP_NOT:
		v = peek(m, 0);
		*v = ~*v;
		return true;
	case OP_PLUS_UCONST:
		*peek(m, 0) += eh_cursor_uleb(&m->c);
		return true;
	default:
		return false;
	}
}

static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (b == 0 || (a == INT64_MIN && b == -1)) {
		fail(m, CFA_EXPR_BAD);
		return 0;
	}
	return (uint64_t)(a / b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0) {
		fail(m, CFA_EXPR_BAD);
		return 0;
	}
	return a % b;
}

static uint64_t shift_right_signed(uint64_t a, uint64_t b)
{
	return (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
}

/* Comparisons are signed, as DWARF says. */
static uint64_t binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case OP_AND:
		return a & b;
	case OP_DIV:
		return divide(m, sa, sb);
	case OP_MINUS:
		return a - b;
	case OP_MOD:
		return modulo(m, a, b);
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_SHL:
		return b < 64 ? a << b : 0;
	case OP_SHR:
		return b < 64 ? a >> b : 0;
	case OP_SHRA:
		return shift_right_signed(a, b);
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return a == b;
	case OP_GE:
		return sa >= sb;
	case OP_GT:
		return sa > sb;
	case OP_LE:
		return sa <= sb;
	case OP_LT:
		return sa < sb;
	case OP_NE:
		return a != b;
	default:
		fail(m, CFA_EXPR_BAD);
		return 0;
	}
}

static bool run_rest(struct machine *m, uint8_t op)
{
	uint64_t reg;
	int16_t delta;

	switch (op) {
	case OP_NOP:
		return true;
	case OP_DEREF:
		deref(m, 8);
		return true;
	case OP_DEREF_SIZE:
		deref(m, eh_cursor_u8(&m->c));
		return true;
	case OP_BREGX:
		reg = eh_cursor_uleb(&m->c);
		push_register(m, reg, eh_cursor_sleb(&m->c));
		return true;
	case OP_SKIP:
		jump(m, (int16_t)eh_cursor_u16(&m->c), true);
		return true;
	case OP_BRA:
		delta = (int16_t)eh_cursor_u16(&m->c);
		jump(m, delta, pop(m) != 0);
		return true;
	default:
		return false;
	}
}

static void run_one(struct machine *m)
{
	uint8_t op = eh_cursor_u8(&m->c);

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(m, op - OP_LIT0);
	} else if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(m, op - OP_BREG0, eh_cursor_sleb(&m->c));
	} else if (!run_constant(m, op) && !run_stack(m, op) && !run_unary(m, op) &&
		   !run_rest(m, op)) {
		uint64_t b = pop(m), a = pop(m);

		push(m, binary(m, op, a, b));
	}
	if (m->c.bad)
		fail(m, CFA_EXPR_BAD);
}

enum cfa_expr_result cfa_expr_eval(const uint8_t *bytes, size_t size,
				   const struct cfa_expr_input *in, uint64_t *ret)
{
	struct machine m;

	m.in = in;
	m.bytes = bytes;
	m.c = eh_cursor_over(bytes, size, 0);
	m.stack[0] = 0;
	m.depth = 0;
	m.result = CFA_EXPR_OK;
	if (in->initial)
		push(&m, *in->initial);
	for (unsigned n = 0; eh_cursor_left(&m.c) && m.result == CFA_EXPR_OK; n++) {
		if (n == CFA_EXPR_STEPS)
			return CFA_EXPR_BAD;
		run_one(&m);
	}

	uint64_t v = pop(&m);

	if (m.result == CFA_EXPR_OK)
		*ret = v;
	else if (m.result == CFA_EXPR_MEMORY)
		*ret = m.fault_addr;
	return m.result;
}
