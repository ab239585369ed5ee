/* SPDX-License-Identifier: Apache-2.0 */
#include "host/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char symbols[] = "0000000000001000 T first\n"
			      "0000000000001800 d no_code\n"
			      "0000000000002000 t second\n"
			      "not a line\n"
			      "0000000000003000 T third\n"
			      "0000000000009000 t in_module\t[mod]\n"
			      "0000000000004000 T fourth\n";

static void symbols_are_read_line_by_line(void **state)
{
	const char *at = symbols, *end = at + strlen(at);
	struct kernel_symbol s;
	size_t n = 0;

	(void)state;
	while (kernel_next_symbol(&at, end, &s)) {
		n++;
		if (s.module)
			assert_memory_equal(s.module, "mod", s.module_size);
	}
	assert_int_equal(n, 6);
}

static void pages_are_as_large_as_the_kernel_says(void **state)
{
	(void)state;
	assert_int_equal(UINT64_C(1) << kernel_page_shift(), sysconf(_SC_PAGESIZE));
}

static void only_symbols_that_were_seen_are_kept(void **state)
{
	static const uint64_t seen[] = { 0x1010, 0x1900, 0x3fff, 0x9001 };
	struct buf b = { 0 };

	(void)state;
	kernel_select_symbols(symbols, strlen(symbols), seen, 4, &b);
	assert_string_equal(buf_str(&b), "0000000000001000 T first\n"
					 "0000000000003000 T third\n"
					 "0000000000009000 t in_module\t[mod]\n");
	buf_fini(&b);
}

static void sorted_lines_are_searched_to_the_same_end(void **state)
{
	static const char sorted[] = "0000000000001000 T first\n"
				     "0000000000002000 t second_with_a_long_name\n"
				     "0000000000003000 T third\n"
				     "0000000000004000 T fourth\n";
	static const uint64_t seen[][2] = { { 0x500, 0xfff },	{ 0x1000, 0x1fff },
					    { 0x2000, 0x2001 }, { 0x3fff, 0x4000 },
					    { 0x4001, 0x9000 }, { 0x1fff, 0x3000 } };

	(void)state;
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		struct buf a = { 0 }, b = { 0 };

		kernel_select_symbols(sorted, strlen(sorted), seen[i], 2, &a);
		kernel_select_sorted(sorted, strlen(sorted), seen[i], 2, &b);
		assert_string_equal(buf_str(&a), buf_str(&b));
		buf_fini(&a);
		buf_fini(&b);
	}
}

static void the_running_kernel_is_known(void **state)
{
	struct kernel k;

	(void)state;
	kernel_read(&k);
	assert_true(k.release[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_read_line_by_line),
		cmocka_unit_test(pages_are_as_large_as_the_kernel_says),
		cmocka_unit_test(only_symbols_that_were_seen_are_kept),
		cmocka_unit_test(sorted_lines_are_searched_to_the_same_end),
		cmocka_unit_test(the_running_kernel_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
