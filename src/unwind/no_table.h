/* SPDX-License-Identifier: Apache-2.0
 *
 * no_table - step out of code that no unwind table covers.
 *
 * JIT code is walked by its frame pointers.  In a file that has tables, code without is
 * hand-written, and its frame pointer may be anybody's: there a step is made only when
 * the code itself proves it (by where it will return to, an entry, a call that leads
 * here).  What cannot be proved ends the walk: a missing frame is better than a wrong
 * one.
 *
 * Hardly anybody writes a quarter of a megabyte by hand, though: a hole of that size in a
 * table is what another compiler put there (V8's builtins in node, 1.6 MB; Go next to C),
 * and walked like JIT code where the code ahead does not tell where it returns to.
 * (Except for those who write video codecs: libx264 has a megabyte of assembly.)
 * Freestanding.
 */
#ifndef DWELL_UNWIND_NO_TABLE_H
#define DWELL_UNWIND_NO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/step.h"

struct no_table_code {
	/* Eight bytes of code; false when they cannot be had. */
	bool (*read)(void *ctx, uint64_t addr, uint64_t *ret);
	bool (*is_code)(void *ctx, uint64_t addr);
	bool (*is_in_file)(void *ctx, uint64_t addr);
	void *ctx;
};

struct no_table_frame {
	bool is_exact;	      /* pc is an interrupted instruction */
	bool is_hand_written; /* other code of its file has a table */
};

#define NO_TABLE_HOLE_BYTES (256u << 10)

/* Is what lies between two FDEs more than people write in assembly? */
static inline bool no_table_is_hole(uint64_t start, uint64_t end)
{
	return start < end && end - start >= NO_TABLE_HOLE_BYTES;
}

enum step_result no_table_step(const struct abi *abi, const struct no_table_code *code,
			       const struct no_table_frame *frame, struct unwind_regs *g,
			       const struct stack_memory *m, struct step *s);

/* Is addr a place that a call returns to?  Code that cannot be read is believed. */
bool no_table_is_return(const struct abi *abi, const struct no_table_code *code,
			uint64_t addr);

#endif
