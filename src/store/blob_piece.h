/* SPDX-License-Identifier: Apache-2.0
 *
 * blob_piece - a part of a kept file: the payload of one block.
 *
 * Its head is never compressed, so that opening a recording does not unpack the files
 * in it.
 */
#ifndef DWELL_STORE_BLOB_PIECE_H
#define DWELL_STORE_BLOB_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/squeeze.h"

struct blob_piece {
	uint32_t blob;
	uint64_t offset; /* of its first byte in the blob */
	uint32_t raw_size;
	uint32_t codec; /* 0: as it is, 1: one zstd frame */
	const uint8_t *stored;
	size_t stored_size;
};

void blob_piece_encode(uint32_t blob, uint64_t offset, const void *data, size_t size,
		       struct squeeze *squeeze, struct buf *out);
/* Borrows the payload.  False: malformed. */
bool blob_piece_parse(const uint8_t *payload, size_t size, struct blob_piece *ret);
/* Appends the raw bytes.  False: malformed. */
bool blob_piece_append(const struct blob_piece *p, struct buf *out);

#endif
