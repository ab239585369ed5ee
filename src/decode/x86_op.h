/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_op - the parts of one x86-64 instruction.
 *
 * Sizes, operands and where they are, quickly; what it does is told by its neighbours
 * x86_flow, x86_flags and x86_writes.  Registers have the instruction set's numbers, not
 * DWARF's.  Freestanding.
 */
#ifndef DWELL_DECODE_X86_OP_H
#define DWELL_DECODE_X86_OP_H

#include <stdbool.h>
#include <stdint.h>

#define X86_OP_MAX_BYTES 15

/* Opcodes are in these; vectors have two more, of which only the sizes are known. */
enum x86_op_map {
	X86_OP_ONE,
	X86_OP_0F,
	X86_OP_0F38,
	X86_OP_0F3A,
	X86_OP_MAP5 = 5,
	X86_OP_MAP6
};

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

/* The bits of a REX prefix, or what stands for them in others. */
enum x86_op_rex {
	X86_OP_REX_B = 1,
	X86_OP_REX_X = 2,
	X86_OP_REX_R = 4,
	X86_OP_REX_W = 8
};

struct x86_op {
	uint8_t size;
	uint8_t map, opcode; /* of any encoding */
	bool is_vector;	     /* VEX or EVEX */
	bool is_64;	     /* 64-bit operands */
	uint8_t repeat;	     /* 0xf2, 0xf3 or 0; of vectors what stands for it */
	bool has_66;
	bool has_rex;
	uint8_t rex;	      /* its bits */
	bool is_locked;	      /* has the prefix */
	bool has_odd_address; /* not base + index + disp */
	bool is_address_32;   /* for that it has 32 bits */
	uint8_t segment; /* for that it is from there on: 0x64 (fs), 0x65 (gs), or 0 */
	/* Of the ModRM byte, with the prefixes' bits; mod is 3 for a register. */
	uint8_t modrm_off; /* in the instruction; 0: it has none */
	uint8_t mod, reg, rm;
	uint8_t vvvv; /* the third operand of vectors */
	uint8_t base; /* of a memory operand, or X86_OP_NO_REG */
	bool has_index;
	bool is_rip_relative; /* disp counts from the instruction's end */
	uint8_t disp_off;     /* in the instruction; 0: it has none */
	int32_t disp;	      /* of a memory operand */
	int64_t imm;	      /* also where a jump goes, from the end on; 0: none */
};

/* bytes: X86_OP_MAX_BYTES of them.  False for what is no instruction, or none that user
 * code has. */
bool x86_op_read(const uint8_t *bytes, struct x86_op *ret);

#endif
