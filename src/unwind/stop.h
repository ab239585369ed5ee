/* SPDX-License-Identifier: Apache-2.0
 *
 * stop - why a stack walk ended.  Stored in recordings: never renumber.
 *
 * Freestanding: also included by code that runs in the target.
 */
#ifndef DWELL_UNWIND_STOP_H
#define DWELL_UNWIND_STOP_H

enum unwind_stop {
	UNWIND_END = 0,		/* the outermost frame was reached: complete */
	UNWIND_NO_MAP = 1,	/* a pc outside every known mapping */
	UNWIND_NO_TABLE = 2,	/* no unwind table there and no frame pointer chain */
	UNWIND_BAD_RULE = 3,	/* a rule that cannot be evaluated */
	UNWIND_BAD_MEMORY = 4,	/* an address that could not be read */
	UNWIND_STACK_SHORT = 5, /* the copied part of the stack ended */
	UNWIND_LIMIT = 6,	/* the depth limit */
	UNWIND_NO_PROGRESS = 7, /* the stack pointer did not rise */
	UNWIND_NO_REGISTER = 8, /* a rule needs a register that nobody knows */
	UNWIND_32BIT = 9,	/* code of 32 bits: only the interrupted place is known */
	UNWIND_NOT_LOADED = 10, /* the rules of the code were not at hand yet */
	UNWIND_N_STOPS
};

#endif
