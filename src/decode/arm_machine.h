/* SPDX-License-Identifier: Apache-2.0
 *
 * arm_machine - registers, flags and memory of an aarch64 thread as far as they are
 * known, and an instruction's operands in them.
 *
 * Freestanding, of one owner.
 */
#ifndef DWELL_DECODE_ARM_MACHINE_H
#define DWELL_DECODE_ARM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/known_bits.h"
#include "decode/path_memory.h"

#define ARM_MACHINE_N_REGS 32
#define ARM_MACHINE_LR	   30
#define ARM_MACHINE_SP	   31 /* where it does not stand for zero */

struct arm_machine {
	struct known_bits regs[ARM_MACHINE_N_REGS];
	struct known_bits flags; /* as in pstate; others are never known */
	struct path_memory memory;
};

/* One instruction that it executes. */
struct arm_step {
	struct arm_machine *m;
	uint64_t addr;
	uint32_t code;
	bool is_access; /* of memory that is not at the stack pointer, the first at: */
	struct known_bits accessed;
};

/* False: it is no such instruction, or nobody knows what it does. */
typedef bool arm_execute_fn(struct arm_step *s);

/* What those instructions do whose bits below the mask are these, of several the first;
 * NULL: nobody knows. */
struct arm_rule {
	uint32_t mask, bits;
	arm_execute_fn *execute;
};

bool arm_machine_apply(const struct arm_rule *rules, size_t n, struct arm_step *s);

/* n bits from the bit at on. */
static inline unsigned arm_machine_field(const struct arm_step *s, unsigned at,
					 unsigned n)
{
	return s->code >> at & ((1u << n) - 1);
}

/* The same with a sign. */
static inline int64_t arm_machine_offset(const struct arm_step *s, unsigned at,
					 unsigned n)
{
	return (int64_t)((uint64_t)s->code << (64 - at - n)) >> (64 - n);
}

/* Where registers mostly are in an instruction. */
enum { ARM_MACHINE_RD = 0, ARM_MACHINE_RN = 5, ARM_MACHINE_RA = 10, ARM_MACHINE_RM = 16 };

/* By the bit that most instructions have for it. */
unsigned arm_machine_bytes(const struct arm_step *s);

/* The register whose number is in the bits from at on, of which 31 is zero, or goes
 * nowhere; or is the stack pointer. */
struct known_bits arm_machine_reg(const struct arm_step *s, unsigned at, unsigned bytes);
struct known_bits arm_machine_reg_or_sp(const struct arm_step *s, unsigned at,
					unsigned bytes);
void arm_machine_set_reg(struct arm_step *s, unsigned at, unsigned bytes,
			 struct known_bits v);
void arm_machine_set_reg_or_sp(struct arm_step *s, unsigned at, unsigned bytes,
			       struct known_bits v);

/* Of data; tags of addresses do not count. */
struct known_bits arm_machine_load(const struct arm_machine *m, struct known_bits addr,
				   unsigned bytes);
void arm_machine_store(struct arm_machine *m, struct known_bits addr, unsigned bytes,
		       struct known_bits v);
/* Nobody knows what. */
void arm_machine_spoil(struct arm_machine *m, struct known_bits addr, unsigned bytes);

struct known_bits arm_machine_plus(struct known_bits v, int64_t more);
/* One bit: what a condition's code, 0 to 15, says of the flags. */
struct known_bits arm_machine_condition(const struct arm_machine *m, unsigned code);
struct known_bits arm_machine_carry(const struct arm_machine *m);

/* An address without its top byte, which may be of use to the program alone. */
struct known_bits arm_machine_untagged(struct known_bits addr);
/* An address with a signature that nobody knows, and one that may have one without it. */
struct known_bits arm_machine_signed(struct known_bits addr);
struct known_bits arm_machine_stripped(struct known_bits addr);

#endif
