/* SPDX-License-Identifier: Apache-2.0 */
#include "store/block_header.h"

#include <string.h>

#include "base/crc32c.h"
#include "base/reader.h"
#include "store/format.h"

#define CHECKED_BYTES 20 /* all before the header's own checksum */

static const uint8_t marker[4] = { 0xde, 'B', 'K', 0xed };

static uint32_t header_crc(const uint8_t *bytes, uint64_t file_off)
{
	return crc32c(crc32c(0, bytes, CHECKED_BYTES), &file_off, sizeof(file_off));
}

void block_header_encode(const struct block_header *h, uint64_t file_off,
			 uint8_t out[BLOCK_HEADER_BYTES])
{
	memcpy(out, marker, sizeof(marker));
	memcpy(out + 4, &h->kind, 2);
	memcpy(out + 6, &h->flags, 2);
	memcpy(out + 8, &h->stored_size, 4);
	memcpy(out + 12, &h->raw_size, 4);
	memcpy(out + 16, &h->payload_crc, 4);

	uint32_t crc = header_crc(out, file_off);

	memcpy(out + 20, &crc, 4);
}

bool block_header_decode(const uint8_t in[BLOCK_HEADER_BYTES], uint64_t file_off,
			 struct block_header *ret)
{
	struct reader r = reader_over(in, BLOCK_HEADER_BYTES);
	struct block_header h;

	reader_skip(&r, sizeof(marker));
	h.kind = reader_u16le(&r);
	h.flags = reader_u16le(&r);
	h.stored_size = reader_u32le(&r);
	h.raw_size = reader_u32le(&r);
	h.payload_crc = reader_u32le(&r);
	if (memcmp(in, marker, sizeof(marker)) != 0 ||
	    reader_u32le(&r) != header_crc(in, file_off))
		return false;
	if (h.stored_size > FORMAT_BLOCK_MAX || h.raw_size > FORMAT_BLOCK_MAX)
		return false;
	*ret = h;
	return true;
}

size_t block_header_find(const uint8_t *data, size_t size)
{
	const uint8_t *hit = memmem(data, size, marker, sizeof(marker));

	return hit ? (size_t)(hit - data) : size;
}
