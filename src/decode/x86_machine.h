/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_machine - registers, flags and memory as far as they are known, and an
 * instruction's operands in them.
 *
 * Freestanding, of one owner.
 */
#ifndef DWELL_DECODE_X86_MACHINE_H
#define DWELL_DECODE_X86_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/x86_alu.h"
#include "decode/path_memory.h"
#include "decode/x86_op.h"

#define X86_MACHINE_D	  0x400u /* in rflags: strings are gone over downwards */
#define X86_MACHINE_FLAGS (X86_ALU_FLAGS | X86_MACHINE_D)

struct x86_machine {
	struct known_bits regs[X86_OP_N_REGS];
	struct known_bits flags; /* as in rflags; others are never known */
	struct path_memory memory;
};

/* One instruction that it executes. */
struct x86_step {
	struct x86_machine *m;
	const struct x86_op *op;
	const uint8_t *bytes;	 /* of the instruction */
	unsigned operand_bytes;	 /* unless it has another size */
	struct known_bits place; /* the memory operand's address without its segment */
	struct known_bits addr;	 /* the same with it; not known: without memory operand */
};

/* next: the address behind the instruction. */
struct x86_step x86_machine_step(struct x86_machine *m, const struct x86_op *op,
				 const uint8_t *bytes, uint64_t next);

bool x86_machine_is_evex(const struct x86_step *s);

/* Registers of 1, 2, 4 or 8 bytes; of one, the instruction's prefixes decide which. */
struct known_bits x86_machine_reg(const struct x86_step *s, unsigned reg, unsigned bytes);
void x86_machine_set_reg(struct x86_step *s, unsigned reg, unsigned bytes,
			 struct known_bits v);
/* The operand that may be in memory. */
struct known_bits x86_machine_rm(const struct x86_step *s, unsigned bytes);
void x86_machine_set_rm(struct x86_step *s, unsigned bytes, struct known_bits v);
void x86_machine_set_flags(struct x86_machine *m, struct known_bits flags,
			   uint32_t changed);

void x86_machine_push(struct x86_machine *m, unsigned bytes, struct known_bits v);
struct known_bits x86_machine_pop(struct x86_machine *m, unsigned bytes);

/* A number plus a displacement. */
struct known_bits x86_machine_plus(struct known_bits v, int64_t more);
/* One bit: what a condition's code, 0 to 15, says of the flags. */
struct known_bits x86_machine_condition(const struct x86_machine *m, unsigned code);

#endif
