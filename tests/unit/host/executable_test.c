/* SPDX-License-Identifier: Apache-2.0 */
#include "host/executable.h"

#include <dlfcn.h>
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
	assert_false(x.has_marks);
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

static int initialised = 1;
static char zeros[1 << 16];

/* Where the file that is mapped here has it; what it does not hold goes on behind. */
static uint64_t linked_address(const struct executable *x, uint64_t base, const void *at)
{
	uint64_t address = (uintptr_t)at - base, linked = 0;

	for (size_t i = 0; i < x->n_loads; i++)
		if (address - x->loads[i].addr < x->loads[i].size)
			assert_true(executable_data_address(
				x, address - x->loads[i].addr + x->loads[i].offset,
				&linked));
	return linked;
}

static void data_is_where_it_was_linked_to_be(void **state)
{
	own(closep) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct executable x;
	uint64_t base, linked;
	Dl_info info;

	(void)state;
	assert_int_equal(executable_probe(fd, &x, NULL), 0);
	assert_true(x.n_loads >= 2);
	assert_int_not_equal(dladdr(&initialised, &info), 0);
	base = (uintptr_t)info.dli_fbase - x.loads[0].addr;
	assert_int_equal(linked_address(&x, base, &initialised),
			 (uintptr_t)&initialised - base);
	assert_int_equal(linked_address(&x, base, zeros + sizeof(zeros) - 1),
			 (uintptr_t)(zeros + sizeof(zeros) - 1) - base);
	assert_false(executable_data_address(&x, UINT64_MAX, &linked));
	assert_true(executable_data_address(&x, executable_data_end(&x) - 1, &linked));
	assert_false(executable_data_address(&x, executable_data_end(&x), &linked));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(we_are_a_native_dynamic_program),
		cmocka_unit_test(a_script_is_no_elf_file_but_has_an_identity),
		cmocka_unit_test(data_is_where_it_was_linked_to_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
