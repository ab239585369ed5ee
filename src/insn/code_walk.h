/* SPDX-License-Identifier: Apache-2.0
 *
 * code_walk - which instructions a procedure is made of: those that ways lead to, from
 * its entry on, and what is left between them.
 *
 * Each place is read once as an instruction, whatever jumps into its middle: the time is
 * linear in the bytes.  The code is borrowed.  One thread per walk.
 */
#ifndef DWELL_INSN_CODE_WALK_H
#define DWELL_INSN_CODE_WALK_H

#include "base/vec.h"
#include "insn/jump_table.h"
#include "insn/procedure.h"

#define CODE_WALK_NONE UINT32_MAX

/* Of an offset; offsets count the bytes of all ranges in a row. */
enum code_walk_mark {
	CODE_WALK_BEGINS =
		1,	    /* a block: something jumps here, or falls from two places */
	CODE_WALK_ROOT = 2, /* nothing that was known when it was found leads here */
	CODE_WALK_LIKELY = 4, /* read from the start on, an instruction begins here */
};

/* An indirect jump. */
struct code_walk_jump {
	uint32_t step;
	uint32_t first, n; /* targets */
	bool is_resolved, is_guessed;
	bool leads_outside; /* some of its targets do */
};

struct code_walk_constant {
	uint64_t value;
	uint8_t to; /* register */
};

struct code_walk {
	const struct procedure_options *options;
	const struct code_step_machine *machine;
	const struct procedure_range *ranges;
	uint32_t *range_offs; /* n_ranges + 1 */
	size_t n_ranges;
	uint32_t n_bytes;
	uint8_t *marks;	     /* [offset] enum code_walk_mark */
	uint8_t *fallen_by;  /* [offset] size of the step that goes on here, 0 */
	uint32_t *step_at;   /* [offset] the step that begins here + 1, 0 */
	uint32_t *jump_from; /* [offset] a step that jumps here + 1, 0 */
	VEC(struct code_step) steps;
	VEC(struct code_walk_jump) jumps;
	size_t n_tried, n_guess_tried; /* of the jumps, without guessing and with it */
	VEC(uint32_t) targets;	       /* offsets */
	VEC(uint32_t) work;	       /* offsets to go on from */
	VEC(struct code_walk_constant) constants; /* by value, once it has swept */
	bool has_swept;
	uint32_t path_left, entries_left; /* that may still be looked at */
};

void code_walk_init(struct code_walk *w, const struct procedure_options *options,
		    const struct code_step_machine *m);
void code_walk_fini(struct code_walk *w);
void code_walk_finip(struct code_walk *w);

void code_walk_run(struct code_walk *w);
/* Tells the targets of an indirect jump if it can; adds them to work. */
void code_walk_resolve(struct code_walk *w, struct code_walk_jump *j, bool may_guess);
/* CODE_WALK_NONE: in none of the ranges. */
uint32_t code_walk_off(const struct code_walk *w, uint64_t address);
uint32_t code_walk_range_of(const struct code_walk *w, uint32_t off);
const uint8_t *code_walk_code(const struct code_walk *w, uint64_t address);
/* A way leads to the offset: it begins a block, and is read if it was not. */
void code_walk_lead(struct code_walk *w, uint32_t off, uint32_t from_step);

#endif
