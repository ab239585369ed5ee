/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_op - what one x86-64 instruction does to the general registers.
 *
 * Gives the size, the fields that a walk looks at, and the registers that may have
 * another value afterwards: never too few, for those are what a walk relies on.
 * Registers have the instruction set's numbers, not DWARF's.  Freestanding.
 */
#ifndef DWELL_UNWIND_X86_OP_H
#define DWELL_UNWIND_X86_OP_H

#include <stdbool.h>
#include <stdint.h>

#define X86_OP_MAX_BYTES 15

enum x86_op_map { X86_OP_ONE, X86_OP_0F, X86_OP_0F38, X86_OP_0F3A };

enum x86_op_reg {
	X86_OP_RAX,
	X86_OP_RCX,
	X86_OP_RDX,
	X86_OP_RBX,
	X86_OP_RSP,
	X86_OP_RBP,
	X86_OP_RSI,
	X86_OP_RDI,
	X86_OP_R11 = 11,
	X86_OP_N_REGS = 16,
	X86_OP_NO_REG = 0xff,
};

struct x86_op {
	uint8_t size;
	uint8_t map, opcode; /* of any encoding */
	bool is_vector;	     /* VEX or EVEX */
	bool is_64;	     /* 64-bit operands */
	uint8_t repeat;	     /* 0xf2, 0xf3 or 0; of vectors what stands for it */
	bool has_66;
	bool has_rex;
	bool has_odd_address; /* not base + index + disp */
	/* Of the ModRM byte, with the prefixes' bits; mod is 3 for a register. */
	uint8_t mod, reg, rm;
	uint8_t vvvv; /* the third operand of vectors */
	uint8_t base; /* of a memory operand, or X86_OP_NO_REG */
	bool has_index;
	int32_t disp;	 /* of it */
	int64_t imm;	 /* also where a jump goes, from the end on; 0: none */
	uint16_t writes; /* bit i: register i may change */
};

/* bytes: X86_OP_MAX_BYTES of them.  False for what is no instruction, or none that user
 * code has. */
bool x86_op_read(const uint8_t *bytes, struct x86_op *ret);

#endif
