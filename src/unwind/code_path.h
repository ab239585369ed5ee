/* SPDX-License-Identifier: Apache-2.0
 *
 * code_path - where a function will return to, by the code that it has still to run.
 *
 * Follows x86-64 code from an address on to the function's ret, both ways of each
 * branch, and knows then where the return address and the caller's registers are, as
 * sums and loads of what the registers hold now.  What is found holds for whatever the
 * code did before, and needs no table and no start of the function.  A way may go where
 * the program never does: behind a call that does not come back.  So all that were found
 * are given, and the stack tells which of them can be.  Freestanding; allocates nothing.
 */
#ifndef DWELL_UNWIND_CODE_PATH_H
#define DWELL_UNWIND_CODE_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/registers.h"
#include "unwind/stack_memory.h"
#include "unwind/step.h"

#define CODE_PATH_LOADS_MAX 2

/* A register's present value plus add[0], or the word there plus add[1], and so on. */
struct code_path_value {
	uint8_t reg;	 /* DWARF's number; CODE_PATH_UNKNOWN */
	uint8_t n_loads; /* at most CODE_PATH_LOADS_MAX */
	int32_t add[CODE_PATH_LOADS_MAX + 1];
};

#define CODE_PATH_UNKNOWN 0xff

struct code_path {
	struct code_path_value sp;	 /* at the ret: where the return address is */
	struct code_path_value regs[16]; /* then, by DWARF number */
	uint16_t popped_bytes;		 /* by the ret, besides the return address */
};

#define CODE_PATH_MAX 3

/* Those that differ in where the return address is. */
struct code_paths {
	struct code_path at[CODE_PATH_MAX];
	unsigned n;
};

struct code_path_input {
	/* Eight bytes of code; false when they cannot be had. */
	bool (*read)(void *ctx, uint64_t addr, uint64_t *ret);
	void *ctx;
	uint64_t pc;
	unsigned steps_max;    /* instructions */
	unsigned branches_max; /* ways kept for later; 0: none but the straight one */
};

/* False: no ret was reached, or one place in different states. */
bool code_path_find(const struct code_path_input *in, struct code_paths *ret);

/* Make g the caller's.  It must be checked that the new pc is code behind a call. */
enum step_result code_path_step(const struct code_path *path, struct unwind_regs *g,
				const struct stack_memory *m, struct step *s);

#endif
