/* SPDX-License-Identifier: Apache-2.0 */
#include "host/kernel_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T start\n"
			   "ffffffff81000010 t twin\n"
			   "ffffffff81000030 t twin\n"
			   "ffffffff81000070 t double\n"
			   "ffffffff81000080 t double\n"
			   "ffffffff81000090 D data\n"
			   "ffffffffc0100000 t start\t[mod]\n"
			   "ffffffffc0000000 t alone\t[other]\n";

static uint64_t find(const char *name, const char *module, uint64_t off, uint64_t size)
{
	own(kernel_names_freep) struct kernel_names *k =
		kernel_names_new(text, sizeof(text) - 1);
	struct proc_wait_kernel_frame f = { .off = off, .size = size };
	uint64_t pc = 0;

	strcpy(f.name, name);
	strcpy(f.module, module);
	return kernel_names_find(k, &f, &pc) ? pc : 0;
}

static void a_name_is_one_of_its_module(void **state)
{
	(void)state;
	assert_int_equal(find("start", "", 4, 0x10), 0xffffffff81000004);
	assert_int_equal(find("start", "mod", 4, 0x10), 0xffffffffc0100004);
	assert_int_equal(find("alone", "other", 0, 0x10), 0xffffffffc0000000);
	assert_int_equal(find("alone", "", 0, 0x10), 0);
	assert_int_equal(find("nobody", "", 0, 0x10), 0);
	assert_int_equal(find("", "", 0, 0x10), 0);
}

static void of_several_the_size_tells_which(void **state)
{
	(void)state;
	assert_int_equal(find("twin", "", 8, 0x20), 0xffffffff81000018);
	assert_int_equal(find("twin", "", 8, 0x40), 0xffffffff81000038);
	assert_int_equal(find("twin", "", 8, 0x30), 0);
	assert_int_equal(find("double", "", 8, 0x10), 0);
}

static void what_is_no_function_or_not_in_it_has_no_address(void **state)
{
	(void)state;
	assert_int_equal(find("data", "", 0, 0x10), 0);
	assert_int_equal(find("start", "", 0x10, 0x10), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_one_of_its_module),
		cmocka_unit_test(of_several_the_size_tells_which),
		cmocka_unit_test(what_is_no_function_or_not_in_it_has_no_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
