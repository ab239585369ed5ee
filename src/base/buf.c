/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void buf_fini(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

void buf_clear(struct buf *b)
{
	b->size = 0;
}

uint8_t *buf_grow(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap * 2 : 256;

	while (cap - b->size < n)
		cap *= 2;
	b->data = xrealloc(b->data, cap, 1);
	b->cap = cap;
	return b->data + b->size;
}

void buf_add(struct buf *b, const void *data, size_t n)
{
	if (!n)
		return;
	memcpy(buf_reserve(b, n), data, n);
	b->size += n;
}

void buf_u8(struct buf *b, uint8_t v)
{
	*buf_reserve(b, 1) = v;
	b->size++;
}

void buf_u16le(struct buf *b, uint16_t v)
{
	buf_add(b, &v, sizeof(v));
}

void buf_u32le(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}

void buf_u64le(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

void buf_uleb(struct buf *b, uint64_t v)
{
	uint8_t *p = buf_reserve(b, 10);
	size_t n = 0;

	while (v >= 0x80) {
		p[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	p[n++] = (uint8_t)v;
	b->size += n;
}

void buf_sleb(struct buf *b, int64_t v)
{
	for (;;) {
		uint8_t byte = v & 0x7f;

		v >>= 7;
		if ((v == 0 && !(byte & 0x40)) || (v == -1 && (byte & 0x40))) {
			buf_u8(b, byte);
			return;
		}
		buf_u8(b, byte | 0x80);
	}
}

void buf_zigzag(struct buf *b, int64_t v)
{
	buf_uleb(b, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);

	int n = vsnprintf(NULL, 0, fmt, ap);

	va_end(ap);
	if (n <= 0)
		return;

	char *p = (char *)buf_reserve(b, (size_t)n + 1);

	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->size += (size_t)n;
}

const char *buf_str(struct buf *b)
{
	*buf_reserve(b, 1) = 0;
	return (const char *)b->data;
}
