/* SPDX-License-Identifier: Apache-2.0
 *
 * jump_table - where an indirect jump takes its target from, by the steps before it.
 *
 * The steps are followed with values that are known in part: numbers, and unknown ones
 * that are scaled, added to, compared and loaded by.  So it does not matter in which
 * order and by which instructions a compiler does these, or whether it keeps the index on
 * the stack.  No state, any thread.
 */
#ifndef DWELL_INSN_JUMP_TABLE_H
#define DWELL_INSN_JUMP_TABLE_H

#include "insn/code_step.h"

#define JUMP_TABLE_MAX_ENTRIES 65536

struct jump_table {
	uint64_t address; /* of the first entry */
	uint64_t addend;  /* target = (entry << shift) + addend */
	uint32_t stride_bytes;
	uint8_t entry_bytes;
	uint8_t shift;
	bool is_signed;
	bool is_limited;    /* by a comparison: there are n_entries */
	uint32_t n_entries; /* that there may be at most */
	/* The table is somewhere unknown: address counts from there. */
	bool is_elsewhere;
	bool is_added;		 /* so does addend */
	bool is_added_elsewhere; /* addend counts from another unknown place */
	/* That have the places since before the steps, or CODE_STEP_NO_REGISTER. */
	uint8_t table_register, addend_register;
};

struct jump_table_step {
	const uint8_t *code;
	const struct code_step *step;
};

/* The path of n steps ends with the jump.  False: its target is not from a table. */
bool jump_table_find(const struct code_step_machine *m,
		     const struct jump_table_step *path, size_t n,
		     struct jump_table *ret);
/* entry: its bytes as a number without a sign. */
uint64_t jump_table_target(const struct jump_table *t, uint64_t entry);

#endif
