/* SPDX-License-Identifier: Apache-2.0
 *
 * column_codec - one column of numbers to bytes and back.
 *
 * The encoder measures what each codec would take and writes the smallest (a near tie
 * goes to the one that is faster to read), then zstd over it where that pays.
 */
#ifndef DWELL_STORE_COLUMN_CODEC_H
#define DWELL_STORE_COLUMN_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/squeeze.h"

/* Stored: never renumber. */
enum column_codec {
	COLUMN_CODEC_CONSTANT = 0,   /* the value */
	COLUMN_CODEC_FIXED = 1,	     /* lowest value, width in bytes, the differences to
				      * the lowest */
	COLUMN_CODEC_VARINT = 2,     /* each value as uleb */
	COLUMN_CODEC_DELTA = 3,	     /* each difference to the previous one, zigzag */
	COLUMN_CODEC_RUNS = 4,	     /* (value, length) */
	COLUMN_CODEC_PALETTE = 5,    /* up to 256 values, then a byte for each row */
	COLUMN_CODEC_BITS = 6,	     /* the length of each value in bits, as a zstd frame;
				      * then the bits below the highest */
	COLUMN_CODEC_DELTA_BITS = 7, /* the same of differences that ascend */
	COLUMN_CODEC_N,
	COLUMN_CODEC_ZSTD = 0x80, /* the raw size, then one zstd frame */
};

/* Appends the codec byte, the length of what follows, and the bytes.  When the squeeze
 * has a level, size matters more than time: every codec is tried. */
void column_codec_encode(const uint64_t *values, size_t n, struct squeeze *squeeze,
			 struct buf *out);

/* n values into out, uint32_t each or, is_wide, uint64_t each.  False: these bytes are
 * no such column (unknown codec, too few or too many bytes, a value that does not fit).
 * scratch is reused memory. */
bool column_codec_decode(unsigned codec, const uint8_t *data, size_t size, size_t n,
			 bool is_wide, void *out, struct buf *scratch);

#endif
