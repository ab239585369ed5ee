/* SPDX-License-Identifier: Apache-2.0
 *
 * emit - the instructions that translated code is made of beside the program's own.
 *
 * Each appends to what an emit points at.
 */
#ifndef DWELL_COUNT_EMIT_H
#define DWELL_COUNT_EMIT_H

#include <stdint.h>

struct emit {
	uint8_t *at;
};

static inline void emit_bytes(struct emit *e, const void *bytes, unsigned n)
{
	__builtin_memcpy(e->at, bytes, n);
	e->at += n;
}

#define EMIT(e, ...)                                                                     \
	do {                                                                             \
		static const uint8_t emit_these[] = { __VA_ARGS__ };                     \
		emit_bytes((e), emit_these, sizeof(emit_these));                         \
	} while (0)

static inline void emit_u8(struct emit *e, uint8_t v)
{
	*e->at++ = v;
}

static inline void emit_u32(struct emit *e, uint32_t v)
{
	__builtin_memcpy(e->at, &v, sizeof(v));
	e->at += sizeof(v);
}

static inline void emit_u64(struct emit *e, uint64_t v)
{
	__builtin_memcpy(e->at, &v, sizeof(v));
	e->at += sizeof(v);
}

/* The distance to where, of an instruction that ends with it. */
static inline void emit_distance(struct emit *e, const void *where)
{
	emit_u32(e, (uint32_t)((const uint8_t *)where - (e->at + 4)));
}

/* So that the 4 bytes behind the next n can be changed at once while they are executed:
 * they lie in one line of the cache. */
static inline void emit_align_distance(struct emit *e, unsigned n)
{
	while (((uintptr_t)e->at + n) % 64 > 60)
		emit_u8(e, 0x90);
}

static inline void emit_jump(struct emit *e, const void *where)
{
	emit_align_distance(e, 1);
	emit_u8(e, 0xe9);
	emit_distance(e, where);
}

/* condition: the last four bits of the opcode. */
static inline void emit_branch(struct emit *e, unsigned condition, const void *where)
{
	emit_align_distance(e, 2);
	emit_u8(e, 0x0f);
	emit_u8(e, (uint8_t)(0x80 | condition));
	emit_distance(e, where);
}

#define EMIT_NOT_BELOW 3
#define EMIT_NOT_EQUAL 5

#define EMIT_SPILL_BYTES	   9
#define EMIT_STORE_NUMBER_BYTES	   12
#define EMIT_ADD_ONE_BYTES	   10
#define EMIT_ADD_ONE_QUIETLY_BYTES (4 * EMIT_SPILL_BYTES + 4)

/* mov %reg, %gs:off and back */
static inline void emit_spill(struct emit *e, unsigned reg, uint32_t off)
{
	emit_u8(e, 0x65);
	emit_u8(e, (uint8_t)(0x48 | (reg >> 3) << 2));
	emit_u8(e, 0x89);
	emit_u8(e, (uint8_t)(0x04 | (reg & 7) << 3));
	emit_u8(e, 0x25);
	emit_u32(e, off);
}

static inline void emit_fill(struct emit *e, unsigned reg, uint32_t off)
{
	emit_u8(e, 0x65);
	emit_u8(e, (uint8_t)(0x48 | (reg >> 3) << 2));
	emit_u8(e, 0x8b);
	emit_u8(e, (uint8_t)(0x04 | (reg & 7) << 3));
	emit_u8(e, 0x25);
	emit_u32(e, off);
}

/* addq $1, %gs:off */
static inline void emit_add_one(struct emit *e, uint32_t off)
{
	EMIT(e, 0x65, 0x48, 0x83, 0x04, 0x25);
	emit_u32(e, off);
	emit_u8(e, 1);
}

/* The same without a change of flags; needs a place for rax. */
static inline void emit_add_one_quietly(struct emit *e, uint32_t off, uint32_t spill)
{
	emit_spill(e, 0, spill);
	emit_fill(e, 0, off);
	EMIT(e, 0x48, 0x8d, 0x40, 0x01); /* lea 1(%rax), %rax */
	emit_spill(e, 0, off);
	emit_fill(e, 0, spill);
}

/* cmp %gs:off, %rsp */
static inline void emit_compare_stack(struct emit *e, uint32_t off)
{
	EMIT(e, 0x65, 0x48, 0x3b, 0x24, 0x25);
	emit_u32(e, off);
}

/* One that takes n bytes, 1 to 5. */
static inline void emit_nop(struct emit *e, unsigned n)
{
	static const uint8_t nops[][5] = {
		{ 0x90 },
		{ 0x66, 0x90 },
		{ 0x0f, 0x1f, 0x00 },
		{ 0x0f, 0x1f, 0x40, 0x00 },
		{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	};

	emit_bytes(e, nops[n - 1], n);
}

/* movl $value, %gs:off */
static inline void emit_store_number(struct emit *e, uint32_t off, uint32_t value)
{
	EMIT(e, 0x65, 0xc7, 0x04, 0x25);
	emit_u32(e, off);
	emit_u32(e, value);
}

/* movabs $value, %reg */
static inline void emit_load_number(struct emit *e, unsigned reg, uint64_t value)
{
	emit_u8(e, (uint8_t)(0x48 | reg >> 3));
	emit_u8(e, (uint8_t)(0xb8 | (reg & 7)));
	emit_u64(e, value);
}

#endif
