/* SPDX-License-Identifier: Apache-2.0
 *
 * no_table - step out of code that no unwind table covers.
 *
 * JIT code is walked by its frame pointers.  In a file that has tables, code without is
 * hand-written, and its frame pointer may be anybody's: there a step is made only when
 * the code itself proves it (an epilogue, an entry, a call that leads here).  What
 * cannot be proved ends the walk: a missing frame is better than a wrong one.
 * Freestanding.
 */
#ifndef DWELL_UNWIND_NO_TABLE_H
#define DWELL_UNWIND_NO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/step.h"

struct no_table_code {
	/* Eight bytes of the program's memory; NULL: only the stack is known. */
	bool (*read)(void *ctx, uint64_t addr, uint64_t *ret);
	bool (*is_code)(void *ctx, uint64_t addr);
	void *ctx;
};

struct no_table_frame {
	bool is_exact;	/* pc is an interrupted instruction */
	bool has_table; /* other code of its file has one */
};

enum step_result no_table_step(const struct abi *abi, const struct no_table_code *code,
			       const struct no_table_frame *frame, struct unwind_regs *g,
			       const struct stack_memory *m, struct step *s);

/* Is addr a place that a call returns to?  Code that cannot be read is believed. */
bool no_table_is_return(const struct abi *abi, const struct no_table_code *code,
			uint64_t addr);

#endif
