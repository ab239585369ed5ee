/* SPDX-License-Identifier: Apache-2.0 */
#include "host/executable.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void we_are_a_native_dynamic_program(void **state)
{
	own(closep) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct executable x;

	(void)state;
	assert_int_equal(executable_probe(fd, &x, NULL), 0);
	assert_true(x.is_native);
	assert_false(x.is_static);
	assert_false(x.is_setid);
	assert_true(x.size_bytes > 0 && x.inode > 0 && x.mtime_s > 0);
}

static void a_script_is_no_elf_file_but_has_an_identity(void **state)
{
	own(closep) int fd = memfd_create("script", MFD_CLOEXEC);
	struct executable x;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	assert_int_equal(executable_probe(fd, &x, &e), ERR_FORMAT);
	assert_string_equal(e.text, "not an ELF file");
	assert_int_equal(x.size_bytes, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(we_are_a_native_dynamic_program),
		cmocka_unit_test(a_script_is_no_elf_file_but_has_an_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
