/* SPDX-License-Identifier: Apache-2.0 */
#include "export/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/mem.h"

/* More than the compressor's block, and not all alike. */
#define N_BYTES 300000

static uint8_t *make_bytes(void)
{
	uint8_t *p = xcalloc(N_BYTES, 1);
	uint32_t x = 1;

	for (size_t i = 0; i < N_BYTES; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (uint8_t)(x >> 24);
	}
	return p;
}

static void inflate_all(const void *packed, size_t n, uint8_t *ret, size_t want)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)packed,
		       .avail_in = (uInt)n,
		       .next_out = ret,
		       .avail_out = (uInt)want };

	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_out, 0);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
}

static void what_was_written_in_pieces_comes_back_whole(unused void **state)
{
	own(freep) uint8_t *bytes = make_bytes();
	own(freep) uint8_t *back = xcalloc(N_BYTES, 1);
	own(freep) char *packed = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&packed, &n);
	own(gzip_freep) struct gzip *g = gzip_new(out);

	assert_int_equal(gzip_write(g, bytes, 1, NULL), 0);
	assert_int_equal(gzip_write(g, bytes + 1, 99999, NULL), 0);
	assert_int_equal(gzip_write(g, bytes, 0, NULL), 0);
	assert_int_equal(gzip_write(g, bytes + 100000, N_BYTES - 100000, NULL), 0);
	assert_int_equal(gzip_finish(g, NULL), 0);
	fclose(out);
	inflate_all(packed, n, back, N_BYTES);
	assert_memory_equal(bytes, back, N_BYTES);
}

static void a_full_disk_is_an_error(unused void **state)
{
	own(freep) uint8_t *bytes = make_bytes();
	own(fclosep) FILE *out = fopen("/dev/full", "w");
	own(gzip_freep) struct gzip *g = gzip_new(out);
	struct err e = { 0 };

	assert_non_null(out);
	assert_int_equal(gzip_write(g, bytes, N_BYTES, &e), ERR_OS);
	assert_non_null(strstr(e.text, "No space left"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_in_pieces_comes_back_whole),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
