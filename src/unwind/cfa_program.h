/* SPDX-License-Identifier: Apache-2.0
 *
 * cfa_program - execution of call frame instructions: the rules at every pc.
 *
 * Freestanding, no allocation: about 3 KB of stack, since DW_CFA_remember_state nests
 * at most CFA_PROGRAM_STATES deep here (compilers use one or two).  Time is linear in the
 * bytes.
 */
#ifndef DWELL_UNWIND_CFA_PROGRAM_H
#define DWELL_UNWIND_CFA_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"

#define CFA_PROGRAM_STATES 8

enum cfa_rule_kind {
	CFA_SAME,      /* the register still has the caller's value */
	CFA_UNDEFINED, /* cannot be recovered; of the return address: outermost frame */
	CFA_AT,	       /* saved at CFA + value */
	CFA_IS,	       /* is CFA + value */
	CFA_REGISTER,  /* is in register reg; of the CFA itself: reg + value */
	CFA_AT_EXPR,   /* saved at what the expression says */
	CFA_IS_EXPR,   /* is what the expression says */
};

struct cfa_rule {
	uint8_t kind;
	uint8_t reg;
	uint16_t expr_size;
	int32_t value; /* offset; of expressions: where in the section */
};

struct cfa_rules {
	struct cfa_rule cfa; /* CFA_REGISTER or CFA_IS_EXPR, CFA_SAME: never set */
	struct cfa_rule reg[UNWIND_N_REGS];
};

/* The rules between two addresses; return false to stop. */
typedef bool cfa_program_visit(void *ctx, uint64_t start, uint64_t end,
			       const struct cfa_rules *rules);

/* Every row of an FDE in order.  False when the program is malformed (rows before the
 * damage were visited). */
bool cfa_program_rows(const struct cfi_section *s, const struct cfi_fde *fde,
		      cfa_program_visit *visit, void *ctx);

/* The rules at pc; false when malformed or when pc is outside. */
bool cfa_program_at(const struct cfi_section *s, const struct cfi_fde *fde, uint64_t pc,
		    struct cfa_rules *ret);

#endif
