/* SPDX-License-Identifier: Apache-2.0
 *
 * bits - numbers of some bits each, one behind the other, the lowest bit first.
 *
 * Header only: it is the innermost loop of what writes and reads columns.
 */
#ifndef DWELL_STORE_BITS_H
#define DWELL_STORE_BITS_H

#include <stdint.h>
#include <string.h>

#include "base/buf.h"

/* Room for bits_add() to write whole words. */
#define BITS_SPARE sizeof(uint64_t)

struct bits_writer {
	uint8_t *at; /* BITS_SPARE bytes more than are added are there */
	uint64_t pending;
	unsigned n_pending; /* less than 8 */
};

struct bits_reader {
	const uint8_t *at;
	size_t size, next; /* in bytes, in bits */
};

/* At most 32 bits; those above them are 0. */
static inline void bits_add_half(struct bits_writer *b, uint64_t v, unsigned n)
{
	b->pending |= v << b->n_pending;
	b->n_pending += n;
	memcpy(b->at, &b->pending, sizeof(b->pending));
	b->at += b->n_pending / 8;
	b->pending >>= b->n_pending & ~7u;
	b->n_pending &= 7;
}

/* The low n bits of v, at most 64. */
static inline void bits_add(struct bits_writer *b, uint64_t v, unsigned n)
{
	unsigned low = n < 32 ? n : 32;

	bits_add_half(b, v & ((UINT64_C(1) << low) - 1), low);
	if (n > low)
		bits_add_half(b, v >> 32 & ((UINT64_C(1) << (n - low)) - 1), n - low);
}

static inline size_t bits_left(const struct bits_reader *b)
{
	return b->size * 8 - b->next;
}

static inline uint64_t bits_take_half(struct bits_reader *b, unsigned n)
{
	const uint8_t *p = b->at + b->next / 8;
	size_t n_bytes = b->size - b->next / 8;
	uint64_t word = 0;

	if (n_bytes >= sizeof(word))
		memcpy(&word, p, sizeof(word));
	else
		memcpy(&word, p, n_bytes);
	word >>= b->next % 8;
	b->next += n;
	return word & ((UINT64_C(1) << n) - 1);
}

/* At most 64 bits, which are there. */
static inline uint64_t bits_take(struct bits_reader *b, unsigned n)
{
	unsigned low = n < 32 ? n : 32;
	uint64_t v = bits_take_half(b, low);

	return n > low ? v | bits_take_half(b, n - low) << 32 : v;
}

#endif
