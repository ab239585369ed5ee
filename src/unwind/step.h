/* SPDX-License-Identifier: Apache-2.0
 *
 * step - from the registers of a frame to those of its caller.
 *
 * Freestanding.  step_row() is the fast way: it carries only sp, pc and the frame
 * pointer on, which nearly every row is content with.  Where a rule needs another
 * register it answers STEP_NEEDS_ALL, and the walk starts again with step_rules(),
 * which carries all that can be recovered.
 */
#ifndef DWELL_UNWIND_STEP_H
#define DWELL_UNWIND_STEP_H

#include <stdint.h>

#include "unwind/abi.h"
#include "unwind/cfa_program.h"
#include "unwind/cfa_row.h"
#include "unwind/stack_memory.h"
#include "unwind/stop.h"

enum step_result {
	STEP_RETURN,	/* regs are the caller's; pc is a return address */
	STEP_SIGNAL,	/* regs are the interrupted frame's; pc is exact */
	STEP_STOP,	/* see stop */
	STEP_NEEDS_ALL, /* a register is needed that was not carried along */
};

struct step {
	enum unwind_stop stop;
	uint64_t fault; /* of UNWIND_BAD_MEMORY: the address */
	/* Where the new values were read, 0: not from memory. */
	uint64_t pc_slot, fp_slot, cfa_slot;
	/* The CFA is by a register that calls may destroy: hand-written code calls what
	 * spares it.  The caller must check that the new pc is code behind a call. */
	bool is_presumed;
};

static inline enum step_result step_stop(struct step *s, enum unwind_stop stop)
{
	s->stop = stop;
	return STEP_STOP;
}

static inline enum step_result step_fault(struct step *s, uint64_t addr)
{
	s->stop = UNWIND_BAD_MEMORY;
	s->fault = addr;
	return STEP_STOP;
}

/* Has the row a stepping rule that step_row() knows? */
static inline bool step_is_simple(const struct cfa_row *row)
{
	return row->kind >= CFA_ROW_CFA && row->kind <= CFA_ROW_PLT;
}

/* The CFA of a simple row; *ret_base is what save slots are relative to. */
static inline enum step_result step_cfa(const struct abi *abi, const struct cfa_row *row,
					const struct unwind_regs *g,
					const struct stack_memory *m, struct step *s,
					uint64_t *ret_cfa, uint64_t *ret_base)
{
	uint64_t base, cfa;

	s->cfa_slot = 0;
	if (__builtin_expect(!(g->valid & abi_bit(row->reg)), 0))
		return STEP_NEEDS_ALL;
	base = g->r[row->reg];
	cfa = base + (uint64_t)(int64_t)row->offset;
	*ret_base = base;
	if (__builtin_expect(row->kind == CFA_ROW_CFA, 1)) {
		*ret_base = cfa;
	} else if (row->kind == CFA_ROW_INDIRECT) {
		s->cfa_slot = cfa;
		if (!stack_memory_word(m, cfa, &cfa))
			return step_fault(s, s->cfa_slot);
	} else if (row->kind == CFA_ROW_PLT) {
		bool is_pushed = (g->r[abi->pc] & 15) >= (uint32_t)row->offset;

		cfa = base + 8 + (is_pushed ? 8 : 0);
		*ret_base = cfa;
	}
	*ret_cfa = cfa;
	return STEP_RETURN;
}

/* Make regs the caller's by a simple row.  On anything but STEP_RETURN regs are as
 * they were. */
static inline __attribute__((always_inline)) enum step_result
step_row(const struct abi *abi, const struct cfa_row *row, struct unwind_regs *g,
	 const struct stack_memory *m, struct step *s)
{
	uint64_t sp = g->r[abi->sp], fp = g->r[abi->fp], floor = sp - abi->red_zone;
	uint64_t cfa, base, pc;
	uint64_t fp_valid = g->valid & abi_bit(abi->fp);
	enum step_result rc = step_cfa(abi, row, g, m, s, &cfa, &base);

	if (__builtin_expect(rc != STEP_RETURN, 0))
		return rc;
	if (__builtin_expect(cfa_row_returns_by_register(abi, row), 0))
		return STEP_NEEDS_ALL;
	/* only a leaf that has not touched its stack may leave sp where it was */
	if (__builtin_expect(cfa <= sp, 0) &&
	    (cfa < sp || !abi->has_link_register || row->save[0] != CFA_ROW_SAME))
		return step_stop(s, UNWIND_NO_PROGRESS);
	if (__builtin_expect(cfa & 7, 0))
		return step_stop(s, UNWIND_BAD_RULE);
	if (abi->has_link_register && row->save[0] == CFA_ROW_SAME) {
		if (!(g->valid & abi_bit(abi->ra)))
			return step_stop(s, UNWIND_NO_PROGRESS);
		pc = g->r[abi->ra];
		s->pc_slot = 0;
	} else {
		s->pc_slot = (row->kind == CFA_ROW_INDIRECT ? cfa : base) +
			     (uint64_t)((int64_t)row->save[0] * 8);
		if (s->pc_slot < floor || !stack_memory_word(m, s->pc_slot, &pc))
			return step_fault(s, s->pc_slot);
	}
	s->fp_slot = 0;
	if (row->save[1] == CFA_ROW_LOST) {
		fp_valid = 0;
	} else if (row->save[1] != CFA_ROW_SAME) {
		s->fp_slot = base + (uint64_t)((int64_t)row->save[1] * 8);
		fp_valid = 0;
		if (s->fp_slot >= floor && stack_memory_word(m, s->fp_slot, &fp)) {
			fp_valid = abi_bit(abi->fp);
		} else if (s->fp_slot >= floor && s->fp_slot < sp) {
			/* popped: tables still name the slot, copies start at sp */
			fp_valid = g->valid & abi_bit(abi->fp);
			s->fp_slot = 0;
		}
	}
	g->r[abi->fp] = fp;
	g->r[abi->sp] = cfa;
	g->r[abi->pc] = pc & abi->pc_mask;
	g->valid = abi_bit(abi->sp) | abi_bit(abi->pc) | fp_valid;
	return STEP_RETURN;
}

/* Out of a signal trampoline, by the kernel's frame at sp. */
enum step_result step_signal(const struct abi *abi, struct unwind_regs *g,
			     const struct stack_memory *m, struct step *s);

/* The rules as interpreted, carrying all registers. */
enum step_result step_rules(const struct abi *abi, const struct cfi_section *section,
			    const struct cfi_fde *fde, const struct cfa_rules *rules,
			    struct unwind_regs *g, const struct stack_memory *m,
			    struct step *s);

/* Where there is no table: by the frame record that fp points to.  The caller must
 * check that the new pc is code; the new fp is whatever the caller keeps in it. */
enum step_result step_frame_pointer(const struct abi *abi, struct unwind_regs *g,
				    const struct stack_memory *m, struct step *s);

/* Without a table, at the first instruction or in a leaf: the return address is where
 * a call leaves it.  The caller must check that the new pc is code behind a call. */
enum step_result step_leaf(const struct abi *abi, struct unwind_regs *g,
			   const struct stack_memory *m, struct step *s);

/* Do the bytes that end at a return address look like a call?  n of them are known. */
bool step_is_call(const struct abi *abi, const uint8_t *end, unsigned n);

#endif
