/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte of each step says what to read next; whatever the bytes are, the
 * cursor stays inside them, failure sticks, and what was read can be written again. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/reader.h"

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

static void check_uleb(uint64_t v)
{
	struct buf b = { 0 };

	buf_uleb(&b, v);
	buf_zigzag(&b, (int64_t)v);
	buf_sleb(&b, (int64_t)v);

	struct reader r = reader_over(b.data, b.size);

	check(reader_uleb(&r) == v);
	check(reader_zigzag(&r) == (int64_t)v);
	check(reader_sleb(&r) == (int64_t)v);
	check(!r.bad && reader_left(&r) == 0);
	buf_fini(&b);
}

static void step(struct reader *r)
{
	const uint8_t *bytes;
	const char *s;
	size_t n;

	switch (reader_u8(r) & 7) {
	case 0:
		check_uleb(reader_uleb(r));
		break;
	case 1:
		check_uleb((uint64_t)reader_sleb(r));
		break;
	case 2:
		n = reader_count(r, 3);
		check(n <= reader_left(r) / 3);
		break;
	case 3:
		s = reader_cstr(r);
		check(!s || (const uint8_t *)s + strlen(s) < r->end);
		break;
	case 4:
		check_uleb(reader_u64le(r));
		break;
	case 5:
		reader_seek(r, reader_u16le(r));
		break;
	case 6:
		n = reader_u8(r);
		bytes = reader_bytes(r, n);
		check(!bytes == r->bad);
		break;
	default:
		reader_u32le(r);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = reader_over(data, size);

	/* Seeking back may loop, so the number of steps is bounded. */
	for (unsigned i = 0; i < 4096 && !r.bad && reader_left(&r); i++) {
		step(&r);
		check(r.at >= r.start && r.at <= r.end);
	}
	if (r.bad)
		check(reader_u64le(&r) == 0 && reader_left(&r) == 0 && r.bad);
	return 0;
}
