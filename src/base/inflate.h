/* SPDX-License-Identifier: Apache-2.0
 *
 * inflate - untrusted compressed bytes to plain ones: zlib, zstd, xz.
 *
 * A stream that ends early, is damaged or wants to grow beyond a plausible ratio gives
 * NULL.  No state, any thread.
 */
#ifndef DWELL_BASE_INFLATE_H
#define DWELL_BASE_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum inflate_method { INFLATE_ZLIB, INFLATE_ZSTD };

/* Exactly ret_size bytes (and a terminator), for the caller to free. */
uint8_t *inflate_new(enum inflate_method method, const uint8_t *in, size_t in_size,
		     uint64_t ret_size);
/* xz does not say its size beforehand: it is told in *ret_size. */
uint8_t *inflate_xz(const uint8_t *in, size_t in_size, size_t *ret_size);

#endif
