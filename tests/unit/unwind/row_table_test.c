/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "unwind/row_table.h"
#include "unwind/unwind_image.h"

static struct unwind_image *open_image(const char *path)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_image *image = NULL;
	struct err e;

	if (fd < 0 || unwind_image_open(fd, path, &image, &e) < 0)
		return NULL;
	return image;
}

/* Every step-th row: what is found there, before it, and lazily, is the same. */
static void compare(struct unwind_image *image, const struct row_table *t, size_t step)
{
	size_t n;
	const struct cfa_row *rows = row_table_rows(t, &n);

	assert_true(n > 10);
	for (size_t i = 1; i < n; i += step) {
		uint64_t at = row_table_base(t) + rows[i].pc;

		assert_ptr_equal(row_table_find(t, at), &rows[i]);
		assert_ptr_equal(row_table_find(t, at - 1), &rows[i - 1]);
		assert_true(cfa_row_is_same(unwind_image_row(image, at), &rows[i]));
		assert_true(
			cfa_row_is_same(unwind_image_row(image, at - 1), &rows[i - 1]));
	}
}

/* The largest tables of the machine are looked at in samples, the rest whole. */
static void tables_equal_the_interpretation(void **state)
{
	static const char *const patterns[] = {
		"/lib*/*/libc.so.6",
		"/lib*/ld-linux-*.so.*",
		"/usr/lib/*/libstdc++.so.6",
		"/usr/lib/*/libcrypto.so.3",
		"/usr/lib/*/libpython3*.so.1.0",
		"/usr/lib/*/libLLVM-*.so.1",
		"/usr/lib/gcc/*/*/cc1",
	};
	size_t n_found = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		glob_t g;

		if (glob(patterns[i], 0, NULL, &g) != 0)
			continue;

		own(unwind_image_freep) struct unwind_image *image =
			open_image(g.gl_pathv[0]);
		own(row_table_freep) struct row_table *t = NULL;
		size_t n;

		assert_non_null(image);
		assert_int_equal(row_table_build(image, &t, NULL), 0);
		row_table_rows(t, &n);
		compare(image, t, n / 50000 + 1);
		n_found++;
		globfree(&g);
	}
	assert_true(n_found >= 2);
}

static void rows_out_of_order_are_refused(void **state)
{
	struct cfa_row rows[2] = { { .pc = 0 }, { .pc = 0 } };
	struct row_table *t = NULL;
	struct err e;

	(void)state;
	assert_int_equal(row_table_new(UNWIND_X86_64, 0, rows, 2, &t, &e), ERR_FORMAT);
	assert_null(t);
}

static void what_is_no_elf_file_is_refused(void **state)
{
	struct unwind_image *image = NULL;
	struct err e;

	(void)state;
	assert_int_equal(unwind_image_over("#!/bin/sh", 9, "x", &image, &e), ERR_FORMAT);
	assert_string_equal(e.text, "'x' is not an ELF file");
	assert_null(image);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_equal_the_interpretation),
		cmocka_unit_test(rows_out_of_order_are_refused),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
