/* SPDX-License-Identifier: Apache-2.0
 *
 * reader - a bounds-checked cursor over untrusted bytes.
 *
 * Failure is sticky: after the first read past the end `bad` stays set, every later
 * read returns 0 or NULL, and reader_offset() tells where it happened.  So a parser
 * reads a whole record straight down and checks once.  Borrows the bytes.
 */
#ifndef DWELL_BASE_READER_H
#define DWELL_BASE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const uint8_t *start, *at, *end;
	bool bad;
};

static inline struct reader reader_over(const void *data, size_t size)
{
	/* an absent section is NULL, on which C allows no arithmetic, not even + 0 */
	static const uint8_t nothing[1];
	const uint8_t *p = data ? data : nothing;

	return (struct reader){ .start = p, .at = p, .end = data ? p + size : p };
}

static inline size_t reader_left(const struct reader *r)
{
	return r->bad ? 0 : (size_t)(r->end - r->at);
}

static inline size_t reader_offset(const struct reader *r)
{
	return (size_t)(r->at - r->start);
}

/* n bytes in place, or NULL. */
static inline const uint8_t *reader_bytes(struct reader *r, size_t n)
{
	if (r->bad || n > reader_left(r)) {
		r->bad = true;
		return NULL;
	}
	r->at += n;
	return r->at - n;
}

static inline void reader_skip(struct reader *r, size_t n)
{
	reader_bytes(r, n);
}

/* Move to an absolute offset from the start. */
static inline void reader_seek(struct reader *r, size_t offset)
{
	if (r->bad || offset > (size_t)(r->end - r->start))
		r->bad = true;
	else
		r->at = r->start + offset;
}

#define READER_FIXED(name, type)                                                         \
	static inline type reader_##name(struct reader *r)                               \
	{                                                                                \
		const uint8_t *p = reader_bytes(r, sizeof(type));                        \
		type v = 0;                                                              \
                                                                                         \
		if (p)                                                                   \
			memcpy(&v, p, sizeof(v));                                        \
		return v;                                                                \
	}

/* Little endian, as all supported machines are. */
READER_FIXED(u8, uint8_t)
READER_FIXED(u16le, uint16_t)
READER_FIXED(u32le, uint32_t)
READER_FIXED(u64le, uint64_t)
#undef READER_FIXED

uint64_t reader_uleb(struct reader *r);
int64_t reader_sleb(struct reader *r);
/* Zigzag-coded signed number: small magnitudes of either sign take one byte. */
int64_t reader_zigzag(struct reader *r);
/* A uleb count of records that take at least min_size_each bytes: bad when more
 * are promised than can be left. */
size_t reader_count(struct reader *r, size_t min_size_each);
/* A string with its terminator inside the bytes, or NULL. */
const char *reader_cstr(struct reader *r);

#endif
