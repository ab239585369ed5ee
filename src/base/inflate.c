/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inflate.h"

#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/own.h"

/* Debug sections shrink 3 to 10 times; a file that promises more than this is bait. */
#define RATIO_MAX    256
#define SMALL_BYTES  (1u << 20)
#define XZ_MEM_BYTES (256u << 20)

static bool is_plausible(uint64_t out, size_t in)
{
	return out <= SMALL_BYTES || out / RATIO_MAX <= in;
}

/* zlib counts in 32 bits, sections need not fit. */
static bool unzip(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
	z_stream z = { 0 };
	int rc = inflateInit(&z);
	size_t in_done = 0, out_done = 0;

	while (rc == Z_OK) {
		size_t give = in_size - in_done, room = out_size - out_done;

		z.next_in = (Bytef *)in + in_done;
		z.avail_in = give > 1u << 30 ? 1u << 30 : (uInt)give;
		z.next_out = out + out_done;
		z.avail_out = room > 1u << 30 ? 1u << 30 : (uInt)room;
		rc = inflate(&z, Z_NO_FLUSH);
		in_done = (size_t)(z.next_in - in);
		out_done = (size_t)(z.next_out - out);
		if (rc == Z_OK && (in_done == in_size || out_done == out_size))
			break;
	}
	inflateEnd(&z);
	return out_done == out_size;
}

uint8_t *inflate_new(enum inflate_method method, const uint8_t *in, size_t in_size,
		     uint64_t ret_size)
{
	if (!in_size || !is_plausible(ret_size, in_size))
		return NULL;

	own(freep) uint8_t *out = xrealloc(NULL, ret_size + 1, 1);
	bool ok = method == INFLATE_ZLIB
			  ? unzip(in, in_size, out, ret_size)
			  : ZSTD_decompress(out, ret_size, in, in_size) == ret_size;

	out[ret_size] = 0;
	return ok ? steal(&out) : NULL;
}

uint8_t *inflate_xz(const uint8_t *in, size_t in_size, size_t *ret_size)
{
	lzma_stream z = LZMA_STREAM_INIT;
	own(freep) uint8_t *out = NULL;
	size_t cap = 0;
	lzma_ret rc = lzma_stream_decoder(&z, XZ_MEM_BYTES, 0);

	z.next_in = in;
	z.avail_in = in_size;
	while (rc == LZMA_OK) {
		if (z.total_out == cap) {
			cap = cap ? cap * 2 : 64 * 1024;
			if (!is_plausible(cap, in_size))
				break;
			out = xrealloc(out, cap, 1);
		}
		z.next_out = out + z.total_out;
		z.avail_out = cap - z.total_out;
		rc = lzma_code(&z, LZMA_FINISH);
	}
	*ret_size = z.total_out;
	lzma_end(&z);
	return rc == LZMA_STREAM_END ? steal(&out) : NULL;
}
