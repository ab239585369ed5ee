/* SPDX-License-Identifier: Apache-2.0 */
#include "store/squeeze.h"

#include <zstd.h>

#define FAST_LEVEL 1
/* Below this a frame's own header eats the gain. */
#define WORTH_TRYING_BYTES 64

void squeeze_fini(struct squeeze *s)
{
	ZSTD_freeCCtx(s->zstd);
	s->zstd = NULL;
	buf_fini(&s->packed);
}

bool squeeze_pack(struct squeeze *s, const void *data, size_t size)
{
	if (size < WORTH_TRYING_BYTES)
		return false;
	if (!s->zstd)
		s->zstd = ZSTD_createCCtx();
	if (!s->zstd)
		return false;

	size_t bound = ZSTD_compressBound(size);

	buf_clear(&s->packed);

	uint8_t *out = buf_reserve(&s->packed, bound);
	size_t n = ZSTD_compressCCtx(s->zstd, out, bound, data, size,
				     s->level ? s->level : FAST_LEVEL);

	/* An eighth is what it must save to be worth every reader's time. */
	if (ZSTD_isError(n) || n + size / 8 > size)
		return false;
	s->packed.size = n;
	return true;
}

bool squeeze_unpack(const void *data, size_t size, uint8_t *out, size_t raw_size)
{
	return ZSTD_decompress(out, raw_size, data, size) == raw_size;
}
