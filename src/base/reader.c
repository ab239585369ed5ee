/* SPDX-License-Identifier: Apache-2.0 */
#include "base/reader.h"

uint64_t reader_uleb(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = reader_u8(r);

		if (r->bad)
			return 0;
		if (shift >= 64 || (shift == 63 && (byte & 0x7e))) {
			r->bad = true; /* does not fit in 64 bits */
			return 0;
		}
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
}

int64_t reader_sleb(struct reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = reader_u8(r);
		if (r->bad || shift >= 70) {
			r->bad = true;
			return 0;
		}
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		v |= ~UINT64_C(0) << shift;
	return (int64_t)v;
}

int64_t reader_zigzag(struct reader *r)
{
	uint64_t v = reader_uleb(r);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

size_t reader_count(struct reader *r, size_t min_size_each)
{
	uint64_t n = reader_uleb(r);

	if (r->bad || (min_size_each && n > reader_left(r) / min_size_each)) {
		r->bad = true;
		return 0;
	}
	return (size_t)n;
}

const char *reader_cstr(struct reader *r)
{
	size_t left = reader_left(r);
	const uint8_t *nul = left ? memchr(r->at, 0, left) : NULL;

	if (!nul) {
		r->bad = true;
		return NULL;
	}
	return (const char *)reader_bytes(r, (size_t)(nul - r->at) + 1);
}
