/* SPDX-License-Identifier: Apache-2.0 */
#include "store/blob_piece.h"

#include "base/own.h"
#include "base/reader.h"
#include "store/format.h"

enum piece_codec { PIECE_RAW = 0, PIECE_ZSTD = 1 };

void blob_piece_encode(uint32_t blob, uint64_t offset, const void *data, size_t size,
		       struct squeeze *squeeze, struct buf *out)
{
	own(buf_fini) struct buf head = { 0 };
	bool is_packed = squeeze_pack(squeeze, data, size);

	buf_uleb(&head, blob);
	buf_uleb(&head, offset);
	buf_uleb(&head, size);
	buf_uleb(&head, is_packed ? PIECE_ZSTD : PIECE_RAW);
	buf_uleb(out, head.size);
	buf_add(out, head.data, head.size);
	if (is_packed)
		buf_add(out, squeeze->packed.data, squeeze->packed.size);
	else
		buf_add(out, data, size);
}

bool blob_piece_parse(const uint8_t *payload, size_t size, struct blob_piece *ret)
{
	struct reader r = reader_over(payload, size);
	size_t head_size = reader_count(&r, 1);
	const uint8_t *head = reader_bytes(&r, head_size);
	struct reader h = reader_over(head, head_size);
	uint64_t blob = reader_uleb(&h);

	ret->offset = reader_uleb(&h);

	uint64_t raw_size = reader_uleb(&h);
	uint64_t codec = reader_uleb(&h);

	if (r.bad || h.bad || blob >= UINT32_MAX || raw_size > FORMAT_PIECE_MAX ||
	    codec > PIECE_ZSTD)
		return false;
	ret->blob = (uint32_t)blob;
	ret->raw_size = (uint32_t)raw_size;
	ret->codec = (uint32_t)codec;
	ret->stored_size = reader_left(&r);
	ret->stored = reader_bytes(&r, ret->stored_size);
	return codec == PIECE_ZSTD || ret->stored_size == raw_size;
}

bool blob_piece_append(const struct blob_piece *p, struct buf *out)
{
	uint8_t *at = buf_reserve(out, p->raw_size);

	if (p->codec == PIECE_RAW) {
		buf_add(out, p->stored, p->stored_size);
		return true;
	}
	if (!squeeze_unpack(p->stored, p->stored_size, at, p->raw_size))
		return false;
	out->size += p->raw_size;
	return true;
}
