/* SPDX-License-Identifier: Apache-2.0
 *
 * cfa_expr - the DWARF expressions of unwind rules, on a small bounded stack.
 *
 * Freestanding.  Terminates on any bytes: at most CFA_EXPR_STEPS operations.
 */
#ifndef DWELL_UNWIND_CFA_EXPR_H
#define DWELL_UNWIND_CFA_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/registers.h"
#include "unwind/stack_memory.h"

#define CFA_EXPR_STEPS 256
#define CFA_EXPR_STACK 16

enum cfa_expr_result {
	CFA_EXPR_OK,
	CFA_EXPR_BAD,	   /* malformed, or an operation that has no place in a rule */
	CFA_EXPR_NO_VALUE, /* needs a register that is not known */
	CFA_EXPR_MEMORY,   /* needs a word that cannot be read: its address in *ret */
};

struct cfa_expr_input {
	const struct unwind_regs *regs;
	const struct stack_memory *memory;
	const uint64_t *initial; /* pushed first, or NULL: register rules get the CFA */
};

enum cfa_expr_result cfa_expr_eval(const uint8_t *bytes, size_t size,
				   const struct cfa_expr_input *in, uint64_t *ret);

#endif
