/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_end - the code that a program or a thread starts in, where it has no table.
 *
 * Nothing called it, so its return address is the topmost on a stack, and a frame whose
 * return address is that one is complete with it.  musl's has no table; its C functions
 * have none either, and those between the start and the program's own call what never
 * returns, so that their code does not tell where it would.  x86-64 only.  Freestanding.
 */
#ifndef DWELL_UNWIND_STACK_END_H
#define DWELL_UNWIND_STACK_END_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/no_table.h"

/* Is what a call returns to at addr start code? */
bool stack_end_is(const struct abi *abi, const struct no_table_code *code, uint64_t addr);

/* The slot at or above sp that holds the return address into start code, when no other
 * return address lies before it: that of the frame whose stack pointer it is. */
bool stack_end_find(const struct abi *abi, const struct no_table_code *code,
		    const struct stack_memory *m, uint64_t sp, uint64_t *ret);

#endif
