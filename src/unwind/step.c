/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/step.h"

#include "unwind/cfa_expr.h"

enum step_result step_signal(const struct abi *abi, struct unwind_regs *g,
			     const struct stack_memory *m, struct step *s)
{
	uint64_t context = g->r[abi->sp] + abi->trampoline_context;
	uint64_t needed = abi_bit(abi->sp) | abi_bit(abi->pc);
	struct unwind_regs next = { .arch = g->arch };

	s->pc_slot = s->fp_slot = s->cfa_slot = 0;
	for (unsigned i = 0; i < UNWIND_N_REGS; i++) {
		if (!abi->context[i])
			continue;
		if (stack_memory_word(m, context + abi->context[i], &next.r[i]))
			next.valid |= abi_bit(i);
		else if (needed & abi_bit(i))
			return step_fault(s, context + abi->context[i]);
	}
	*g = next;
	return STEP_SIGNAL;
}

struct evaluation {
	const struct cfi_section *section;
	const struct stack_memory *memory;
	const struct unwind_regs *regs;
	uint64_t cfa, floor;
};

static enum step_result expression(const struct evaluation *e,
				   const struct cfa_rule *rule, const uint64_t *initial,
				   struct step *s, uint64_t *ret)
{
	struct cfa_expr_input in = { e->regs, e->memory, initial };
	uint64_t v;

	switch (cfa_expr_eval(e->section->bytes + rule->value, rule->expr_size, &in,
			      &v)) {
	case CFA_EXPR_OK:
		*ret = v;
		return STEP_RETURN;
	case CFA_EXPR_NO_VALUE:
		return STEP_NEEDS_ALL;
	case CFA_EXPR_MEMORY:
		return step_fault(s, v);
	default:
		return step_stop(s, UNWIND_BAD_RULE);
	}
}

static enum step_result load(const struct evaluation *e, uint64_t addr, struct step *s,
			     uint64_t *ret)
{
	if (addr < e->floor || !stack_memory_word(e->memory, addr, ret))
		return step_fault(s, addr);
	return STEP_RETURN;
}

static enum step_result from_register(const struct evaluation *e, unsigned reg,
				      uint64_t *ret)
{
	if (!(e->regs->valid & abi_bit(reg)))
		return STEP_NEEDS_ALL;
	*ret = e->regs->r[reg];
	return STEP_RETURN;
}

/* Where a rule says that the register was saved. */
static enum step_result slot(const struct evaluation *e, const struct cfa_rule *rule,
			     struct step *s, uint64_t *ret)
{
	if (rule->kind == CFA_AT_EXPR)
		return expression(e, rule, &e->cfa, s, ret);
	if (rule->kind != CFA_AT)
		return step_stop(s, UNWIND_BAD_RULE);
	*ret = e->cfa + (uint64_t)(int64_t)rule->value;
	return STEP_RETURN;
}

/* The value a rule gives to register reg in the caller. */
static enum step_result apply(const struct evaluation *e, unsigned reg,
			      const struct cfa_rule *rule, struct step *s, uint64_t *ret)
{
	enum step_result rc;
	uint64_t addr;

	switch (rule->kind) {
	case CFA_SAME:
		return from_register(e, reg, ret);
	case CFA_REGISTER:
		return from_register(e, rule->reg, ret);
	case CFA_IS:
		*ret = e->cfa + (uint64_t)(int64_t)rule->value;
		return STEP_RETURN;
	case CFA_IS_EXPR:
		return expression(e, rule, &e->cfa, s, ret);
	case CFA_AT:
	case CFA_AT_EXPR:
		rc = slot(e, rule, s, &addr);
		return rc == STEP_RETURN ? load(e, addr, s, ret) : rc;
	default:
		return step_stop(s, UNWIND_BAD_RULE);
	}
}

/* Which of the registers that a call may destroy may be asked for all the same. */
static uint64_t presumed(const struct unwind_regs *g, unsigned reg)
{
	if (reg >= UNWIND_N_PRESUMED)
		return 0;
	return g->valid & (abi_bit(reg) | UNWIND_PRESUMED(reg)) ? UNWIND_PRESUMED(reg)
								: 0;
}

static enum step_result evaluate_cfa(struct evaluation *e, const struct cfa_rule *rule,
				     struct step *s)
{
	enum step_result rc;

	switch (rule->kind) {
	case CFA_REGISTER:
		rc = from_register(e, rule->reg, &e->cfa);
		if (rc == STEP_NEEDS_ALL && presumed(e->regs, rule->reg)) {
			s->is_presumed = true;
			e->cfa = e->regs->r[rule->reg];
			rc = STEP_RETURN;
		}
		e->cfa += (uint64_t)(int64_t)rule->value;
		return rc;
	case CFA_IS_EXPR:
		return expression(e, rule, NULL, s, &e->cfa);
	default:
		return step_stop(s, UNWIND_BAD_RULE);
	}
}

/* A slot between the red zone and sp has been popped: tables name it until the function
 * returns, the register holds the value again, and copies of a stack start at sp. */
static bool is_popped(const struct evaluation *e, const struct abi *abi,
		      const struct cfa_rule *rule)
{
	struct step ignored;
	uint64_t addr;

	return slot(e, rule, &ignored, &addr) == STEP_RETURN && addr >= e->floor &&
	       addr < e->regs->r[abi->sp];
}

/* A register of the caller: its bit in `valid`, 0 when it cannot be known. */
static uint64_t recover(const struct evaluation *e, const struct abi *abi, unsigned reg,
			const struct cfa_rule *rule, uint64_t *ret)
{
	struct step ignored;

	/* what a call may destroy is known again only by an explicit rule */
	if (rule->kind == CFA_SAME && !(abi->callee_saved & abi_bit(reg))) {
		*ret = e->regs->r[reg];
		return presumed(e->regs, reg);
	}
	if (apply(e, reg, rule, &ignored, ret) == STEP_RETURN)
		return abi_bit(reg);
	if (is_popped(e, abi, rule) && from_register(e, reg, ret) == STEP_RETURN)
		return abi_bit(reg);
	return 0;
}

/* A frame is at least its return address, unless a register holds that: leaves of
 * aarch64, vfork. */
static bool is_progress(const struct cfi_fde *fde, uint64_t cfa, uint64_t sp,
			bool ra_in_register)
{
	if (fde->is_signal_frame || cfa > sp)
		return true;
	return cfa == sp && ra_in_register;
}

enum step_result step_rules(const struct abi *abi, const struct cfi_section *section,
			    const struct cfi_fde *fde, const struct cfa_rules *rules,
			    struct unwind_regs *g, const struct stack_memory *m,
			    struct step *s)
{
	struct evaluation e = { section, m, g, 0, g->r[abi->sp] - abi->red_zone };
	struct unwind_regs next = { .arch = g->arch };
	const struct cfa_rule *ra = &rules->reg[fde->ra];
	bool ra_in_register = ra->kind == CFA_SAME || ra->kind == CFA_REGISTER;
	uint64_t pc;
	enum step_result rc;

	s->pc_slot = s->fp_slot = s->cfa_slot = 0;
	s->is_presumed = false;
	if (ra->kind == CFA_UNDEFINED)
		return step_stop(s, UNWIND_END);
	if (ra->kind == CFA_SAME && !abi->has_link_register)
		return step_stop(s, UNWIND_BAD_RULE);
	rc = evaluate_cfa(&e, &rules->cfa, s);
	if (rc != STEP_RETURN)
		return rc;
	if (!is_progress(fde, e.cfa, g->r[abi->sp], ra_in_register))
		return step_stop(s, UNWIND_NO_PROGRESS);
	if (e.cfa & 7)
		return step_stop(s, UNWIND_BAD_RULE);
	rc = apply(&e, fde->ra, ra, s, &pc);
	if (rc != STEP_RETURN)
		return rc;
	for (unsigned i = 0; i < UNWIND_N_REGS; i++)
		next.valid |= recover(&e, abi, i, &rules->reg[i], &next.r[i]);
	if (!(next.valid & abi_bit(abi->sp)))
		next.r[abi->sp] = e.cfa;
	next.r[abi->pc] = pc & abi->pc_mask;
	next.valid |= abi_bit(abi->sp) | abi_bit(abi->pc);
	if (abi->has_link_register && !fde->is_signal_frame)
		next.valid &= ~(abi_bit(abi->ra) | UNWIND_PRESUMED(abi->ra));
	*g = next;
	return fde->is_signal_frame ? STEP_SIGNAL : STEP_RETURN;
}

enum step_result step_frame_pointer(const struct abi *abi, struct unwind_regs *g,
				    const struct stack_memory *m, struct step *s)
{
	uint64_t fp = g->r[abi->fp], next_fp, pc;

	s->pc_slot = s->fp_slot = s->cfa_slot = 0;
	if (!(g->valid & abi_bit(abi->fp)) || (fp & 7) || fp < g->r[abi->sp])
		return step_stop(s, UNWIND_NO_TABLE);
	if (!stack_memory_word(m, fp, &next_fp))
		return step_fault(s, fp);
	if (!stack_memory_word(m, fp + 8, &pc))
		return step_fault(s, fp + 8);
	g->r[abi->pc] = pc & abi->pc_mask;
	g->r[abi->sp] = fp + 16;
	g->r[abi->fp] = next_fp;
	g->valid = abi_bit(abi->sp) | abi_bit(abi->pc) | abi_bit(abi->fp);
	return STEP_RETURN;
}

enum step_result step_leaf(const struct abi *abi, struct unwind_regs *g,
			   const struct stack_memory *m, struct step *s)
{
	uint64_t pc, sp = g->r[abi->sp], link = abi_bit(abi->ra);
	uint64_t kept = abi->callee_saved | abi_bit(abi->sp) | abi_bit(abi->pc);

	s->pc_slot = s->fp_slot = s->cfa_slot = 0;
	if (abi->has_link_register) {
		if (!(g->valid & link))
			return step_stop(s, UNWIND_NO_TABLE);
		pc = g->r[abi->ra];
	} else {
		if (!stack_memory_word(m, sp, &pc))
			return step_fault(s, sp);
		g->r[abi->sp] = sp + 8;
	}
	g->r[abi->pc] = pc & abi->pc_mask;
	g->valid &= kept;
	return STEP_RETURN;
}

bool step_is_call(const struct abi *abi, const uint8_t *end, unsigned n)
{
	if (abi->has_link_register) {
		uint32_t insn;

		if (n < 4)
			return false;
		memcpy(&insn, end - 4, 4);
		/* bl; blr and its authenticating forms */
		return insn >> 26 == 0x25 || (insn & 0xfefff000) == 0xd63f0000;
	}
	if (n >= 5 && end[-5] == 0xe8)
		return true;
	/* call r/m: ff /2 with 2 to 7 bytes */
	for (unsigned size = 2; size <= 7 && size <= n; size++)
		if (end[-(int)size] == 0xff && (end[1 - (int)size] & 0x38) == 0x10)
			return true;
	return false;
}
