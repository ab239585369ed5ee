/* SPDX-License-Identifier: Apache-2.0
 *
 * eh_cursor - a bounded cursor over bytes that know their address.
 *
 * The freestanding sister of base/reader.h: unwind tables hold addresses relative to
 * where they stand, so the cursor carries the address along.  Failure is sticky: past
 * the end everything reads as 0 and `bad` stays set.
 */
#ifndef DWELL_UNWIND_EH_CURSOR_H
#define DWELL_UNWIND_EH_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* DW_EH_PE: how a pointer is written (low half) and what it is relative to. */
enum {
	EH_ABSOLUTE = 0x00,
	EH_ULEB = 0x01,
	EH_UDATA2 = 0x02,
	EH_UDATA4 = 0x03,
	EH_UDATA8 = 0x04,
	EH_SLEB = 0x09,
	EH_SDATA2 = 0x0a,
	EH_SDATA4 = 0x0b,
	EH_SDATA8 = 0x0c,
	EH_FORM = 0x0f,
	EH_PC_RELATIVE = 0x10,
	EH_DATA_RELATIVE = 0x30,
	EH_RELATION = 0x70,
	EH_INDIRECT = 0x80,
	EH_OMIT = 0xff,
};

struct eh_cursor {
	const uint8_t *at, *end;
	uint64_t addr; /* of *at, in the address space of the table */
	bool bad;
};

static inline struct eh_cursor eh_cursor_over(const uint8_t *bytes, size_t size,
					      uint64_t addr)
{
	return (struct eh_cursor){ .at = bytes, .end = bytes + size, .addr = addr };
}

static inline size_t eh_cursor_left(const struct eh_cursor *c)
{
	return c->bad ? 0 : (size_t)(c->end - c->at);
}

/* n bytes in place, or NULL. */
static inline const uint8_t *eh_cursor_bytes(struct eh_cursor *c, uint64_t n)
{
	if (n > eh_cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	c->at += n;
	c->addr += n;
	return c->at - n;
}

#define EH_CURSOR_FIXED(name, type)                                                      \
	static inline type eh_cursor_##name(struct eh_cursor *c)                         \
	{                                                                                \
		const uint8_t *p = eh_cursor_bytes(c, sizeof(type));                     \
		type v = 0;                                                              \
                                                                                         \
		if (p)                                                                   \
			memcpy(&v, p, sizeof(v));                                        \
		return v;                                                                \
	}

EH_CURSOR_FIXED(u8, uint8_t)
EH_CURSOR_FIXED(u16, uint16_t)
EH_CURSOR_FIXED(u32, uint32_t)
EH_CURSOR_FIXED(u64, uint64_t)
#undef EH_CURSOR_FIXED

/* Numbers that do not fit in 64 bits are bad. */
static inline uint64_t eh_cursor_uleb(struct eh_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = eh_cursor_u8(c);

		if (shift > 63 || (shift == 63 && (byte & 0x7e)))
			c->bad = true;
		if (c->bad)
			return 0;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
}

static inline int64_t eh_cursor_sleb(struct eh_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0;;) {
		uint8_t byte = eh_cursor_u8(c);

		if (shift > 63)
			c->bad = true;
		if (c->bad)
			return 0;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			v |= ~UINT64_C(0) << shift;
		return (int64_t)v;
	}
}

/* A pointer in the given encoding; data_addr is what EH_DATA_RELATIVE adds.  The
 * EH_INDIRECT bit is the caller's: what is returned is the address to look at. */
static inline uint64_t eh_cursor_pointer(struct eh_cursor *c, uint8_t encoding,
					 uint64_t data_addr)
{
	uint64_t base = 0, v = 0;

	switch (encoding & EH_RELATION) {
	case EH_ABSOLUTE:
		break;
	case EH_PC_RELATIVE:
		base = c->addr;
		break;
	case EH_DATA_RELATIVE:
		base = data_addr;
		break;
	default:
		c->bad = true;
	}
	switch (encoding & EH_FORM) {
	case EH_ULEB:
		v = eh_cursor_uleb(c);
		break;
	case EH_SLEB:
		v = (uint64_t)eh_cursor_sleb(c);
		break;
	case EH_UDATA2:
		v = eh_cursor_u16(c);
		break;
	case EH_SDATA2:
		v = (uint64_t)(int16_t)eh_cursor_u16(c);
		break;
	case EH_UDATA4:
		v = eh_cursor_u32(c);
		break;
	case EH_SDATA4:
		v = (uint64_t)(int32_t)eh_cursor_u32(c);
		break;
	case EH_ABSOLUTE:
	case EH_UDATA8:
	case EH_SDATA8:
		v = eh_cursor_u64(c);
		break;
	default:
		c->bad = true;
	}
	return v + base;
}

#endif
