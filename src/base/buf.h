/* SPDX-License-Identifier: Apache-2.0
 *
 * buf - a growing run of bytes: what is being encoded, or a text being built.
 *
 * Zero-initialise, release with buf_fini().  Not shared between threads.
 */
#ifndef DWELL_BASE_BUF_H
#define DWELL_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data;
	size_t size, cap;
};

void buf_fini(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */
uint8_t *buf_grow(struct buf *b, size_t n);
/* Room for n more bytes at the end, not yet counted in size. */
static inline uint8_t *buf_reserve(struct buf *b, size_t n)
{
	return b->data && n <= b->cap - b->size ? b->data + b->size : buf_grow(b, n);
}
void buf_add(struct buf *b, const void *data, size_t n);
void buf_u8(struct buf *b, uint8_t v);
void buf_u16le(struct buf *b, uint16_t v);
void buf_u32le(struct buf *b, uint32_t v);
void buf_u64le(struct buf *b, uint64_t v);
void buf_uleb(struct buf *b, uint64_t v);
void buf_sleb(struct buf *b, int64_t v);
void buf_zigzag(struct buf *b, int64_t v);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The text so far, terminated (the terminator is not counted in size). */
const char *buf_str(struct buf *b);

#endif
