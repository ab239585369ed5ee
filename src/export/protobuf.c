/* SPDX-License-Identifier: Apache-2.0 */
#include "export/protobuf.h"

enum wire_type { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void put_key(struct buf *b, unsigned field, enum wire_type type)
{
	buf_uleb(b, ((uint64_t)field << 3) | type);
}

void protobuf_u64(struct buf *b, unsigned field, uint64_t v)
{
	if (!v)
		return;
	put_key(b, field, WIRE_VARINT);
	buf_uleb(b, v);
}

void protobuf_bytes(struct buf *b, unsigned field, const void *data, size_t n)
{
	put_key(b, field, WIRE_BYTES);
	buf_uleb(b, n);
	buf_add(b, data, n);
}

static size_t varint_size(uint64_t v)
{
	size_t n = 1;

	while (v >>= 7)
		n++;
	return n;
}

void protobuf_packed(struct buf *b, unsigned field, const uint64_t *v, size_t n)
{
	size_t size = 0;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		size += varint_size(v[i]);
	put_key(b, field, WIRE_BYTES);
	buf_uleb(b, size);
	for (size_t i = 0; i < n; i++)
		buf_uleb(b, v[i]);
}
