/* SPDX-License-Identifier: Apache-2.0 */
#include "export/gzip.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/mem.h"

/* 15 bits of window, and 16 asks zlib for the gzip header and trailer. */
#define GZIP_WINDOW_BITS (15 + 16)
#define GZIP_LEVEL	 6

struct gzip {
	FILE *out;
	z_stream z;
	bool is_ready;
	uint8_t block[64 * 1024];
};

struct gzip *gzip_new(FILE *out)
{
	struct gzip *g = xcalloc(1, sizeof(*g));

	g->out = out;
	g->is_ready = deflateInit2(&g->z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, 8,
				   Z_DEFAULT_STRATEGY) == Z_OK;
	return g;
}

void gzip_free(struct gzip *g)
{
	if (!g)
		return;
	if (g->is_ready)
		deflateEnd(&g->z);
	free(g);
}

void gzip_freep(struct gzip **g)
{
	gzip_free(*g);
}

/* Compress what z holds; with Z_FINISH until the trailer is out. */
static int pump(struct gzip *g, int flush, struct err *e)
{
	if (!g->is_ready)
		return err_set(e, ERR_LIMIT, "no memory to compress");
	do {
		g->z.next_out = g->block;
		g->z.avail_out = sizeof(g->block);
		if (deflate(&g->z, flush) == Z_STREAM_ERROR)
			return err_set(e, ERR_LIMIT, "cannot compress");

		size_t n = sizeof(g->block) - g->z.avail_out;

		if (fwrite(g->block, 1, n, g->out) != n)
			return err_os(e, "cannot write");
	} while (g->z.avail_out == 0);
	return 0;
}

int gzip_write(struct gzip *g, const void *data, size_t n, struct err *e)
{
	const uint8_t *p = data;

	while (n) {
		uInt piece = n > UINT_MAX ? UINT_MAX : (uInt)n;

		g->z.next_in = (Bytef *)(uintptr_t)p;
		g->z.avail_in = piece;

		int rc = pump(g, Z_NO_FLUSH, e);

		if (rc < 0)
			return rc;
		p += piece;
		n -= piece;
	}
	return 0;
}

int gzip_finish(struct gzip *g, struct err *e)
{
	g->z.avail_in = 0;
	return pump(g, Z_FINISH, e);
}
