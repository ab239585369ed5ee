/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfa_program.h"

#include "unwind/eh_cursor.h"

/* Call frame instructions: the primary ones have an operand in the low six bits. */
enum {
	OP_ADVANCE = 0x40,
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,
	OP_PRIMARY = 0xc0,

	OP_NOP = 0x00,
	OP_SET_LOC = 0x01,
	OP_ADVANCE1 = 0x02,
	OP_ADVANCE2 = 0x03,
	OP_ADVANCE4 = 0x04,
	OP_OFFSET_EXTENDED = 0x05,
	OP_RESTORE_EXTENDED = 0x06,
	OP_UNDEFINED = 0x07,
	OP_SAME_VALUE = 0x08,
	OP_REGISTER = 0x09,
	OP_REMEMBER = 0x0a,
	OP_RECALL = 0x0b,
	OP_DEF_CFA = 0x0c,
	OP_DEF_CFA_REGISTER = 0x0d,
	OP_DEF_CFA_OFFSET = 0x0e,
	OP_DEF_CFA_EXPR = 0x0f,
	OP_EXPR = 0x10,
	OP_OFFSET_EXTENDED_SF = 0x11,
	OP_DEF_CFA_SF = 0x12,
	OP_DEF_CFA_OFFSET_SF = 0x13,
	OP_VAL_OFFSET = 0x14,
	OP_VAL_OFFSET_SF = 0x15,
	OP_VAL_EXPR = 0x16,
	OP_NEGATE_RA_STATE = 0x2d,
	OP_ARGS_SIZE = 0x2e,
	OP_NEGATIVE_OFFSET = 0x2f,
};

struct run {
	const struct cfi_section *s;
	const struct cfi_fde *fde;
	struct eh_cursor c;
	uint64_t pc, next_pc; /* next_pc differs after an instruction that advances */
	struct cfa_rules now, initial;
	struct cfa_rules saved[CFA_PROGRAM_STATES];
	unsigned n_saved;
};

static void fail(struct run *r)
{
	r->c.bad = true;
}

/* Registers that we do not carry (vectors, x87) read into a place nobody looks at. */
static void set_rule(struct run *r, uint64_t reg, struct cfa_rule rule)
{
	if (reg < UNWIND_N_REGS)
		r->now.reg[reg] = rule;
}

static int32_t narrow(struct run *r, int64_t v)
{
	if (v != (int32_t)v)
		fail(r);
	return (int32_t)v;
}

static int32_t factored(struct run *r, int64_t v)
{
	int64_t product;

	if (__builtin_mul_overflow(v, r->fde->data_align, &product))
		fail(r);
	return r->c.bad ? 0 : narrow(r, product);
}

static int32_t uleb_factored(struct run *r)
{
	uint64_t v = eh_cursor_uleb(&r->c);

	if (v > INT64_MAX)
		fail(r);
	return factored(r, (int64_t)v);
}

static int32_t sleb_factored(struct run *r)
{
	return factored(r, eh_cursor_sleb(&r->c));
}

static int32_t uleb_plain(struct run *r)
{
	uint64_t v = eh_cursor_uleb(&r->c);

	if (v > INT32_MAX)
		fail(r);
	return (int32_t)v;
}

static void restore(struct run *r, uint64_t reg)
{
	if (reg < UNWIND_N_REGS)
		r->now.reg[reg] = r->initial.reg[reg];
}

static struct cfa_rule expression(struct run *r, enum cfa_rule_kind kind)
{
	uint64_t size = eh_cursor_uleb(&r->c);
	const uint8_t *p = eh_cursor_bytes(&r->c, size);

	if (!p || size > UINT16_MAX || p - r->s->bytes > INT32_MAX) {
		fail(r);
		return (struct cfa_rule){ 0 };
	}
	return (struct cfa_rule){ .kind = kind,
				  .expr_size = (uint16_t)size,
				  .value = (int32_t)(p - r->s->bytes) };
}

static void define_cfa(struct run *r, uint64_t reg, int32_t offset)
{
	if (reg >= UNWIND_N_REGS)
		fail(r);
	r->now.cfa = (struct cfa_rule){ .kind = CFA_REGISTER,
					.reg = (uint8_t)reg,
					.value = offset };
}

/* These two need a CFA that is a register already. */
static void change_cfa(struct run *r, uint64_t reg, int32_t offset)
{
	if (r->now.cfa.kind != CFA_REGISTER)
		fail(r);
	define_cfa(r, reg, offset);
}

static void remember(struct run *r)
{
	if (r->n_saved == CFA_PROGRAM_STATES)
		fail(r);
	else
		r->saved[r->n_saved++] = r->now;
}

static void recall(struct run *r)
{
	if (!r->n_saved)
		fail(r);
	else
		r->now = r->saved[--r->n_saved];
}

static void advance(struct run *r, uint64_t delta)
{
	r->next_pc = r->pc + delta * r->fde->code_align;
}

/* Instructions that move on or keep states. */
static bool run_control(struct run *r, uint8_t op)
{
	switch (op) {
	case OP_NOP:
		return true;
	case OP_SET_LOC:
		r->next_pc = eh_cursor_pointer(&r->c, r->fde->pointer_encoding,
					       r->s->data_addr);
		return true;
	case OP_ADVANCE1:
		advance(r, eh_cursor_u8(&r->c));
		return true;
	case OP_ADVANCE2:
		advance(r, eh_cursor_u16(&r->c));
		return true;
	case OP_ADVANCE4:
		advance(r, eh_cursor_u32(&r->c));
		return true;
	case OP_REMEMBER:
		remember(r);
		return true;
	case OP_RECALL:
		recall(r);
		return true;
	case OP_NEGATE_RA_STATE: /* return addresses are always stripped */
		return true;
	case OP_ARGS_SIZE:
		eh_cursor_uleb(&r->c);
		return true;
	default:
		return false;
	}
}

static bool run_cfa(struct run *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case OP_DEF_CFA:
		reg = eh_cursor_uleb(&r->c);
		define_cfa(r, reg, uleb_plain(r));
		return true;
	case OP_DEF_CFA_SF:
		reg = eh_cursor_uleb(&r->c);
		define_cfa(r, reg, sleb_factored(r));
		return true;
	case OP_DEF_CFA_REGISTER:
		change_cfa(r, eh_cursor_uleb(&r->c), r->now.cfa.value);
		return true;
	case OP_DEF_CFA_OFFSET:
		change_cfa(r, r->now.cfa.reg, uleb_plain(r));
		return true;
	case OP_DEF_CFA_OFFSET_SF:
		change_cfa(r, r->now.cfa.reg, sleb_factored(r));
		return true;
	case OP_DEF_CFA_EXPR:
		r->now.cfa = expression(r, CFA_IS_EXPR);
		return true;
	default:
		return false;
	}
}

/* Instructions whose first operand is the register they set a rule for. */
static void run_register(struct run *r, uint8_t op)
{
	uint64_t reg = eh_cursor_uleb(&r->c);
	struct cfa_rule rule = { 0 };

	switch (op) {
	case OP_RESTORE_EXTENDED:
		restore(r, reg);
		return;
	case OP_UNDEFINED:
		rule.kind = CFA_UNDEFINED;
		break;
	case OP_SAME_VALUE:
		break;
	case OP_REGISTER: {
		uint64_t from = eh_cursor_uleb(&r->c);

		/* In a register that we do not carry it is lost. */
		rule.kind = from < UNWIND_N_REGS ? CFA_REGISTER : CFA_UNDEFINED;
		rule.reg = from < UNWIND_N_REGS ? (uint8_t)from : 0;
		break;
	}
	case OP_OFFSET_EXTENDED:
		rule = (struct cfa_rule){ .kind = CFA_AT, .value = uleb_factored(r) };
		break;
	case OP_OFFSET_EXTENDED_SF:
		rule = (struct cfa_rule){ .kind = CFA_AT, .value = sleb_factored(r) };
		break;
	case OP_NEGATIVE_OFFSET:
		rule = (struct cfa_rule){ .kind = CFA_AT,
					  .value =
						  narrow(r, -(int64_t)uleb_factored(r)) };
		break;
	case OP_VAL_OFFSET:
		rule = (struct cfa_rule){ .kind = CFA_IS, .value = uleb_factored(r) };
		break;
	case OP_VAL_OFFSET_SF:
		rule = (struct cfa_rule){ .kind = CFA_IS, .value = sleb_factored(r) };
		break;
	case OP_EXPR:
		rule = expression(r, CFA_AT_EXPR);
		break;
	case OP_VAL_EXPR:
		rule = expression(r, CFA_IS_EXPR);
		break;
	default:
		fail(r);
	}
	set_rule(r, reg, rule);
}

static void run_one(struct run *r)
{
	uint8_t op = eh_cursor_u8(&r->c), low = op & (uint8_t)~OP_PRIMARY;

	switch (op & OP_PRIMARY) {
	case OP_ADVANCE:
		advance(r, low);
		return;
	case OP_OFFSET:
		set_rule(r, low,
			 (struct cfa_rule){ .kind = CFA_AT, .value = uleb_factored(r) });
		return;
	case OP_RESTORE:
		restore(r, low);
		return;
	default:
		if (!run_control(r, op) && !run_cfa(r, op))
			run_register(r, op);
	}
}

static void start(struct run *r, const struct cfi_program *p)
{
	r->c = eh_cursor_over(r->s->bytes + p->off, p->size, r->s->addr + p->off);
	r->n_saved = 0;
}

static bool run_initial(struct run *r)
{
	start(r, &r->fde->initial);
	while (eh_cursor_left(&r->c))
		run_one(r);
	r->initial = r->now;
	return !r->c.bad;
}

bool cfa_program_rows(const struct cfi_section *s, const struct cfi_fde *fde,
		      cfa_program_visit *visit, void *ctx)
{
	struct run r;

	/* saved[] need not be cleared: only what was remembered is read */
	r.s = s;
	r.fde = fde;
	r.pc = r.next_pc = fde->start;
	memset(&r.now, 0, sizeof(r.now));
	r.initial = r.now; /* a CIE may try to restore */
	if (!run_initial(&r))
		return false;
	start(&r, &fde->program);
	r.next_pc = r.pc;
	while (eh_cursor_left(&r.c)) {
		run_one(&r);
		if (r.c.bad || r.next_pc < r.pc)
			return false;
		if (r.next_pc == r.pc)
			continue;
		if (r.next_pc >= fde->end)
			break;
		if (!visit(ctx, r.pc, r.next_pc, &r.now))
			return true;
		r.pc = r.next_pc;
	}
	if (r.pc < fde->end)
		visit(ctx, r.pc, fde->end, &r.now);
	return !r.c.bad;
}

struct at {
	uint64_t pc;
	struct cfa_rules *ret;
	bool is_found;
};

static bool visit_at(void *ctx, uint64_t start, uint64_t end,
		     const struct cfa_rules *rules)
{
	struct at *at = ctx;

	if (at->pc < start)
		return false;
	if (at->pc >= end)
		return true;
	*at->ret = *rules;
	at->is_found = true;
	return false;
}

bool cfa_program_at(const struct cfi_section *s, const struct cfi_fde *fde, uint64_t pc,
		    struct cfa_rules *ret)
{
	struct at at = { .pc = pc, .ret = ret };

	return cfa_program_rows(s, fde, visit_at, &at) && at.is_found;
}
