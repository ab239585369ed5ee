/* SPDX-License-Identifier: Apache-2.0
 *
 * operation_aarch64_table - the instructions of aarch64: how each is known, its class,
 * and which of its fields are registers that it reads or writes.
 *
 * By the architecture's manual (DDI 0487, C4.1).
 */
#ifndef DWELL_INSN_OPERATION_AARCH64_TABLE_H
#define DWELL_INSN_OPERATION_AARCH64_TABLE_H

#include "insn/operation.h"

/* Fields: d is bits 0 to 4, n 5 to 9, a 10 to 14, m 16 to 20.  31 is no register, but the
 * stack pointer of those that say so and of what an address is made of. */
enum operation_aarch64_use {
	OPERATION_AARCH64_D_WRITTEN = 1 << 0,
	OPERATION_AARCH64_D_OR_SP_WRITTEN = 1 << 1,
	OPERATION_AARCH64_D_READ = 1 << 2,
	OPERATION_AARCH64_D_VECTOR_WRITTEN = 1 << 3,
	OPERATION_AARCH64_D_VECTOR_READ = 1 << 4,
	OPERATION_AARCH64_N_READ = 1 << 5,
	OPERATION_AARCH64_N_OR_SP_READ = 1 << 6,
	OPERATION_AARCH64_N_VECTOR_READ = 1 << 7,
	OPERATION_AARCH64_M_READ = 1 << 8,
	OPERATION_AARCH64_M_WRITTEN = 1 << 9,
	OPERATION_AARCH64_M_VECTOR_READ = 1 << 10,
	OPERATION_AARCH64_A_READ = 1 << 11,
	OPERATION_AARCH64_A_VECTOR_READ = 1 << 12,
	OPERATION_AARCH64_FLAGS_READ = 1 << 13,
	OPERATION_AARCH64_FLAGS_WRITTEN = 1 << 14,
	OPERATION_AARCH64_LINK_WRITTEN = 1 << 15, /* x30 */
	OPERATION_AARCH64_LOADS = 1 << 16,
	OPERATION_AARCH64_STORES = 1 << 17,
	OPERATION_AARCH64_N_BASE = 1 << 18,
	OPERATION_AARCH64_M_INDEX = 1 << 19,
	OPERATION_AARCH64_OFF_12 = 1 << 20,	  /* unsigned, of whole operands */
	OPERATION_AARCH64_OFF_9 = 1 << 21,	  /* of bytes */
	OPERATION_AARCH64_OFF_7 = 1 << 22,	  /* of operands of a pair */
	OPERATION_AARCH64_OFF_LITERAL = 1 << 23,  /* from the instruction on */
	OPERATION_AARCH64_MOVES_BEFORE = 1 << 24, /* the base, by the offset */
	OPERATION_AARCH64_MOVES_BEHIND = 1 << 25,
	OPERATION_AARCH64_PAIR = 1 << 26, /* a is used as d is */
	OPERATION_AARCH64_LIST = 1
				 << 27, /* so are those behind d, as many as there are */
	OPERATION_AARCH64_FUSES = 1 << 28,
	OPERATION_AARCH64_SUM = 1 << 29,      /* of n and a constant, or m alone */
	OPERATION_AARCH64_CONSTANT = 1 << 30, /* among its operands */
};

struct operation_aarch64_row {
	const char *name;
	uint32_t mask, bits;
	uint32_t uses; /* enum operation_aarch64_use */
	uint8_t class; /* enum operation_class */
	/* Which it is where that depends on other fields, or NULL. */
	enum operation_class (*refine)(uint32_t word, enum operation_class class);
};

/* The first that fits; NULL: none. */
const struct operation_aarch64_row *operation_aarch64_table_find(uint32_t word);
/* From 1 on. */
uint16_t operation_aarch64_table_id(const struct operation_aarch64_row *row);
const struct operation_aarch64_row *operation_aarch64_table_at(uint16_t id);

#endif
