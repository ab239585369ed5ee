/* SPDX-License-Identifier: Apache-2.0
 *
 * arm_alu - integer arithmetic of aarch64 on numbers of which some bits may not be known.
 *
 * Numbers have 4 or 8 bytes, as the operands' registers: neither set nor known beyond.
 * Freestanding, no state.
 */
#ifndef DWELL_DECODE_ARM_ALU_H
#define DWELL_DECODE_ARM_ALU_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/known_bits.h"

/* Where they are in pstate, and in the register NZCV. */
#define ARM_ALU_N     0x80000000u
#define ARM_ALU_Z     0x40000000u
#define ARM_ALU_C     0x20000000u
#define ARM_ALU_V     0x10000000u
#define ARM_ALU_FLAGS 0xf0000000u

struct arm_result {
	struct known_bits value;
	struct known_bits flags; /* all four */
};

/* As instructions have them in two bits; adds and subtractions have another. */
enum arm_alu_shift { ARM_ALU_LSL, ARM_ALU_LSR, ARM_ALU_ASR, ARM_ALU_ROR };
enum arm_alu_logical { ARM_ALU_AND, ARM_ALU_ORR, ARM_ALU_EOR, ARM_ALU_ANDS };

/* carry: one bit. */
struct arm_result arm_alu_add(struct known_bits a, struct known_bits b,
			      struct known_bits carry, unsigned bytes);
/* a - b, less one more unless there is a carry. */
struct arm_result arm_alu_sub(struct known_bits a, struct known_bits b,
			      struct known_bits carry, unsigned bytes);
struct arm_result arm_alu_logical(enum arm_alu_logical what, struct known_bits a,
				  struct known_bits b, unsigned bytes);
struct known_bits arm_alu_not(struct known_bits v, unsigned bytes);
/* by: less than there are bits. */
struct known_bits arm_alu_shift(enum arm_alu_shift how, struct known_bits v, unsigned by,
				unsigned bytes);
/* Low bits, extended to 8 bytes as an option of three bits says. */
struct known_bits arm_alu_extend(struct known_bits v, unsigned option);
struct known_bits arm_alu_multiply(struct known_bits a, struct known_bits b,
				   unsigned bytes);
/* The upper 8 bytes of a product of 8 by 8. */
struct known_bits arm_alu_multiply_high(struct known_bits a, struct known_bits b,
					bool is_signed);
struct known_bits arm_alu_divide(struct known_bits a, struct known_bits b, bool is_signed,
				 unsigned bytes);

/* What an immediate of 13 bits, N immr imms, stands for: a rotated run of ones again and
 * again, and the mask of those that bit fields take from the source.  False: nothing. */
struct arm_alu_masks {
	uint64_t rotated, top;
};
bool arm_alu_masks_of(unsigned n_immr_imms, bool is_logical, struct arm_alu_masks *ret);

#endif
