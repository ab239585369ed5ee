/* SPDX-License-Identifier: Apache-2.0
 *
 * code_step - one instruction as a step of its procedure: where it goes on, and what it
 * does to a number that becomes the target of a jump.
 *
 * Much quicker than text: for whole programs.  Reading a step is apart from reading its
 * effect, which only those before an indirect jump are asked for.  No state, any thread.
 */
#ifndef DWELL_INSN_CODE_STEP_H
#define DWELL_INSN_CODE_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_step_flow {
	CODE_STEP_ON,	  /* to the next */
	CODE_STEP_BRANCH, /* to the next or the target */
	CODE_STEP_JUMP,
	CODE_STEP_JUMP_TO, /* what an operand holds */
	CODE_STEP_CALL,
	CODE_STEP_CALL_TO,
	CODE_STEP_RETURN,
	CODE_STEP_STOP, /* traps, and never goes on */
};

struct code_step {
	uint64_t address;
	uint64_t target; /* of those that know it, else 0 */
	uint8_t size;
	uint8_t flow;	 /* enum code_step_flow */
	bool is_padding; /* does nothing: may be there to align what follows */
	bool is_final;	 /* never goes on, though it looks so: a call that does not return
			  */
};

#define CODE_STEP_NO_REGISTER 0xff
#define CODE_STEP_N_REGISTERS 32

enum code_step_effect_kind {
	CODE_STEP_EFFECT_OTHER,	  /* registers have other values, nothing else is known */
	CODE_STEP_EFFECT_SET,	  /* to = place */
	CODE_STEP_EFFECT_LOAD,	  /* to = what is in memory at the place */
	CODE_STEP_EFFECT_STORE,	  /* what is in memory at the place = from */
	CODE_STEP_EFFECT_COMPARE, /* from, or memory at the place, with `with` or value */
	CODE_STEP_EFFECT_LIMIT,	  /* to = from & value */
	CODE_STEP_EFFECT_BRANCH,  /* goes to the target if the condition holds */
	CODE_STEP_EFFECT_JUMP,	  /* to the place, or to what is in memory there */
};

/* Of the last comparison, as numbers without a sign or with one. */
enum code_step_condition {
	CODE_STEP_CONDITION_OTHER,
	CODE_STEP_CONDITION_ABOVE,
	CODE_STEP_CONDITION_NOT_BELOW,
	CODE_STEP_CONDITION_BELOW,
	CODE_STEP_CONDITION_NOT_ABOVE,
};

/* base + (index << shift) + offset */
struct code_step_place {
	int64_t offset; /* all of it where there is no register */
	uint8_t base, index;
	uint8_t shift;
	uint8_t index_bytes; /* of the index that are taken; 0: all */
	bool is_index_signed;
};

struct code_step_effect {
	uint8_t kind;	   /* enum code_step_effect_kind */
	uint8_t condition; /* enum code_step_condition, of a BRANCH */
	uint8_t to, from, with;
	uint8_t bytes; /* of memory, or of a register that is taken; 0: all */
	bool is_signed;
	bool is_memory;	    /* COMPARE and JUMP: with what is at the place */
	bool changes_flags; /* and is no comparison */
	uint64_t value;
	uint32_t changed; /* bits: registers whose values are others, beside to */
	struct code_step_place place;
};

struct code_step_machine {
	unsigned number;	/* EM_… of <elf.h> */
	uint8_t unit_bytes;	/* where instructions may begin */
	uint8_t stack_register; /* of effects */
	/* Bits: general registers whose values calls need not keep. */
	uint32_t changed_by_calls;
	/* The instruction at the start of size bytes; false: there is none. */
	bool (*read)(const uint8_t *code, size_t size, uint64_t address,
		     struct code_step *ret);
	/* Of one that was read. */
	void (*effect)(const uint8_t *code, const struct code_step *step,
		       struct code_step_effect *ret);
};

static inline bool code_step_falls(const struct code_step *s)
{
	return !s->is_final &&
	       (s->flow == CODE_STEP_ON || s->flow == CODE_STEP_BRANCH ||
		s->flow == CODE_STEP_CALL || s->flow == CODE_STEP_CALL_TO);
}

static inline bool code_step_is_call(const struct code_step *s)
{
	return s->flow == CODE_STEP_CALL || s->flow == CODE_STEP_CALL_TO;
}

extern const struct code_step_machine code_step_x86;
extern const struct code_step_machine code_step_aarch64;

/* NULL: this machine's code is not read. */
const struct code_step_machine *code_step_machine_of(unsigned number);

#endif
