/* SPDX-License-Identifier: Apache-2.0
 *
 * operation - what one instruction does: as far as it matters for how long it takes, and
 * for what it is counted as.
 *
 * Its class, the registers that it waits for and those that wait for it, and its memory.
 * Registers are counted whole: al is rax, xmm0 is zmm0.  One thread per reader.
 */
#ifndef DWELL_INSN_OPERATION_H
#define DWELL_INSN_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

/* What kind of work it is; loading and storing go beside it. */
enum operation_class {
#define OPERATION(name, text) OPERATION_##name,
#include "insn/operations.def"
#undef OPERATION
	OPERATION_N_CLASSES
};

/* Bits of a set of registers. */
enum operation_register {
	OPERATION_REG_GENERAL = 0, /* in the instruction set's order; 31 of aarch64: sp */
	OPERATION_N_GENERAL = 32,
	OPERATION_REG_VECTOR = 32,
	OPERATION_REG_MASK = 64,
	OPERATION_REG_FLAGS = 80,
	OPERATION_REG_X87 = 81, /* the whole stack */
	OPERATION_REG_SEGMENT_BASE = 82,
	OPERATION_N_REGS
};

/* A set of them. */
typedef unsigned __int128 operation_registers;

#define OPERATION_NO_REG 0xff

struct operation {
	operation_registers reads; /* beside the address */
	operation_registers writes;
	operation_registers address; /* what a memory operand's address is made of */
	operation_registers merges;  /* of those written: they keep a part of what they
				      * had */
	int64_t disp;	     /* of the memory operand; whole if it has no registers */
	int64_t offset;	     /* with from */
	uint16_t id;	     /* for operation_mnemonic() */
	uint8_t class;	     /* enum operation_class */
	uint8_t size;	     /* in bytes */
	uint8_t base, index; /* of the memory operand, OPERATION_NO_REG: none */
	uint8_t scale;
	uint8_t width; /* bytes of the widest operand */
	/* The general register `to` becomes from + offset; NO_REGISTER: nothing so plain.
	 */
	uint8_t from, to;
	bool loads : 1, stores : 1, pushes : 1, pops : 1;
	bool has_memory : 1;	 /* an operand is an address, loaded from or not */
	bool is_ip_relative : 1; /* that one */
	bool is_in_frame : 1; /* its base is the stack pointer, and there is no index */
	bool moves_base : 1;  /* it leaves its base at the sum that `to` is */
	bool has_segment : 1; /* as well */
	bool is_scalar : 1;   /* floating point, one number in a vector's register */
	bool is_zeroing : 1;  /* the result does not depend on what it reads */
	bool is_signed : 1;   /* an extension by the sign */
	bool is_low_byte : 1; /* one of another register's lowest byte by zeros */
	bool has_immediate : 1;
	bool may_fuse_with_branch : 1; /* the branch right behind it is part of it */
};

/* What functions need not leave as it was; none where the machine is not known. */
operation_registers operation_changed_by_calls(unsigned machine);

struct operation_reader;

/* machine: EM_… of <elf.h>. */
must_use int operation_reader_new(unsigned machine, struct operation_reader **ret,
				  struct err *e);
void operation_reader_free(struct operation_reader *r);
void operation_reader_freep(struct operation_reader **r);
/* The instruction at the start of the code; false: there is none. */
bool operation_read(struct operation_reader *r, const uint8_t *code, size_t size,
		    uint64_t address, struct operation *ret);
const char *operation_mnemonic(const struct operation_reader *r, uint16_t id);

static inline bool operation_is_between(const struct operation *o,
					enum operation_class first,
					enum operation_class last)
{
	return o->class >= first && o->class <= last;
}

static inline bool operation_is_call(const struct operation *o)
{
	return operation_is_between(o, OPERATION_CALL, OPERATION_CALL_INDIRECT);
}

/* Or takes a root; in the vector registers. */
static inline bool operation_divides_floats(const struct operation *o)
{
	return operation_is_between(o, OPERATION_FP_DIVIDE_SINGLE,
				    OPERATION_FP_ROOT_DOUBLE);
}

/* Whatever numbers. */
static inline bool operation_divides(const struct operation *o)
{
	return operation_is_between(o, OPERATION_DIVIDE_32, OPERATION_DIVIDE_64) ||
	       operation_divides_floats(o) || o->class == OPERATION_X87_DIVIDE;
}

/* Waits for what is before, or lets nothing behind go first. */
static inline bool operation_synchronises(const struct operation *o)
{
	return operation_is_between(o, OPERATION_ATOMIC, OPERATION_FENCE) ||
	       o->class == OPERATION_SERIALIZE || o->class == OPERATION_SYSTEM;
}

/* "multiplications", as people read it. */
const char *operation_class_text(enum operation_class class);
/* "rax", "zmm0", "flags"; "x0", "v0". */
const char *operation_register_name(const struct operation_reader *r, unsigned reg);

static inline operation_registers operation_register_bit(unsigned reg)
{
	return (operation_registers)1 << reg;
}

static inline bool operation_has_register(operation_registers set, unsigned reg)
{
	return set >> reg & 1;
}

/* The lowest of some. */
static inline unsigned operation_first_register(operation_registers set)
{
	uint64_t low = (uint64_t)set;

	return (unsigned)(low ? __builtin_ctzll(low)
			      : 64 + __builtin_ctzll((uint64_t)(set >> 64)));
}

#endif
