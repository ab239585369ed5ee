/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_alu - integer arithmetic on numbers of which some bits may not be known.
 *
 * What is told is what a processor gives, whatever the other bits are; what manuals leave
 * undefined is not known.  Numbers have the operand's size, 1, 2, 4 or 8 bytes: neither
 * set nor known beyond it.  Freestanding, no state.
 */
#ifndef DWELL_DECODE_X86_ALU_H
#define DWELL_DECODE_X86_ALU_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/known_bits.h"

/* Where they are in rflags. */
enum {
	X86_ALU_C = 0x1,
	X86_ALU_P = 0x4,
	X86_ALU_A = 0x10,
	X86_ALU_Z = 0x40,
	X86_ALU_S = 0x80,
	X86_ALU_O = 0x800,
	X86_ALU_FLAGS = 0x8d5,
};

struct x86_result {
	struct known_bits value;
	struct known_bits flags;
	uint32_t changed; /* flags that do not stay as they were */
};

/* As opcodes and the reg fields of groups have them. */
enum x86_alu_arithmetic {
	X86_ALU_ADD,
	X86_ALU_OR,
	X86_ALU_ADC,
	X86_ALU_SBB,
	X86_ALU_AND,
	X86_ALU_SUB,
	X86_ALU_XOR,
	X86_ALU_CMP, /* gives what sub does */
};

enum x86_alu_shift {
	X86_ALU_ROL,
	X86_ALU_ROR,
	X86_ALU_RCL,
	X86_ALU_RCR,
	X86_ALU_SHL,
	X86_ALU_SHR,
	X86_ALU_SAL, /* another name of shl */
	X86_ALU_SAR,
};

/* Zero, sign and parity of a result. */
struct known_bits x86_alu_flags_of(struct known_bits v, unsigned bytes);

/* carry: one bit; only adc and sbb take it. */
struct x86_result x86_alu_arithmetic(enum x86_alu_arithmetic what, struct known_bits a,
				     struct known_bits b, struct known_bits carry,
				     unsigned bytes);
/* count: a byte. */
struct x86_result x86_alu_shift(enum x86_alu_shift what, struct known_bits a,
				struct known_bits count, unsigned bytes);
/* shld and shrd, which takes from b what a lacks. */
struct x86_result x86_alu_shift_both(bool is_right, struct known_bits a,
				     struct known_bits b, struct known_bits count,
				     unsigned bytes);
/* high: the upper half of the product. */
struct x86_result x86_alu_multiply(bool is_signed, struct known_bits a,
				   struct known_bits b, unsigned bytes,
				   struct known_bits *high);
enum x86_alu_division {
	X86_ALU_DIVIDED,
	X86_ALU_REFUSED,  /* by the processor, too */
	X86_ALU_TOO_WIDE, /* not told: more than 64 bits are divided */
};

/* Of high:low. */
enum x86_alu_division x86_alu_divide(bool is_signed, uint64_t high, uint64_t low,
				     uint64_t by, unsigned bytes, uint64_t *quotient,
				     uint64_t *rest);

#endif
