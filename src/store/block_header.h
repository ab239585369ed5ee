/* SPDX-License-Identifier: Apache-2.0
 *
 * block_header - the 24 bytes in front of every block of a recording.
 *
 * The checksum covers the block's own offset in the file, so that a copy of a block
 * inside the content of another (an archived recording) is never taken for one.
 */
#ifndef DWELL_STORE_BLOCK_HEADER_H
#define DWELL_STORE_BLOCK_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_HEADER_BYTES 24

struct block_header {
	uint16_t kind;	      /* enum format_kind */
	uint16_t flags;	      /* enum format_flag */
	uint32_t stored_size; /* bytes of payload in the file */
	uint32_t raw_size;    /* after decompression; equals stored_size without */
	uint32_t payload_crc; /* CRC32C of the stored payload */
};

void block_header_encode(const struct block_header *h, uint64_t file_off,
			 uint8_t out[BLOCK_HEADER_BYTES]);
/* False: these bytes are no header at that offset. */
bool block_header_decode(const uint8_t in[BLOCK_HEADER_BYTES], uint64_t file_off,
			 struct block_header *ret);
/* Offset of the first byte in data that could begin a header, or size. */
size_t block_header_find(const uint8_t *data, size_t size);

#endif
