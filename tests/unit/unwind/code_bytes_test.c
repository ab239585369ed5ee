/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"
#include "unwind/code_bytes.h"

#define FILE_BYTES 1000u

static const struct {
	uint64_t off;
	unsigned n, want;
} reads[] = {
	{ 0, 16, 16 },						   /* a line's begin */
	{ 250, 16, 16 },					   /* over its end */
	{ 256, 256, 256 }, { 300, 256, 256 },	  { 990, 16, 10 }, /* over the file's */
	{ 1000, 16, 0 },   { UINT64_MAX, 16, 0 }, { 766, 8, 8 },   { 0, 0, 0 },
};

static void fill(uint8_t *bytes)
{
	for (unsigned i = 0; i < FILE_BYTES; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
}

static void check_reads(struct code_bytes *c, const uint8_t *bytes)
{
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		uint8_t got[256];

		assert_int_equal(code_bytes_read(c, reads[i].off, got, reads[i].n),
				 reads[i].want);
		if (reads[i].want)
			assert_memory_equal(got, bytes + reads[i].off, reads[i].want);
	}
}

static void a_file_gives_what_it_has(void **state)
{
	own(fclosep) FILE *f = tmpfile();
	uint8_t bytes[FILE_BYTES];
	struct code_bytes c;

	(void)state;
	assert_non_null(f);
	fill(bytes);
	assert_int_equal(fwrite(bytes, 1, FILE_BYTES, f), FILE_BYTES);
	assert_int_equal(fflush(f), 0);
	code_bytes_init(&c, fileno(f), NULL, FILE_BYTES);
	check_reads(&c, bytes);
	code_bytes_fini(&c);
}

static void so_does_memory(void **state)
{
	uint8_t bytes[FILE_BYTES];
	struct code_bytes c;

	(void)state;
	fill(bytes);
	code_bytes_init(&c, -1, bytes, FILE_BYTES);
	check_reads(&c, bytes);
	code_bytes_fini(&c);
}

static void a_file_that_was_cut_off_gives_what_is_left(void **state)
{
	own(fclosep) FILE *f = tmpfile();
	uint8_t bytes[FILE_BYTES], got[64];
	struct code_bytes c;

	(void)state;
	assert_non_null(f);
	fill(bytes);
	assert_int_equal(fwrite(bytes, 1, 270, f), 270);
	assert_int_equal(fflush(f), 0);
	code_bytes_init(&c, fileno(f), NULL, FILE_BYTES);
	assert_int_equal(code_bytes_read(&c, 250, got, 64), 20);
	assert_memory_equal(got, bytes + 250, 20);
	assert_int_equal(code_bytes_read(&c, 600, got, 64), 0);
	code_bytes_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_gives_what_it_has),
		cmocka_unit_test(so_does_memory),
		cmocka_unit_test(a_file_that_was_cut_off_gives_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
