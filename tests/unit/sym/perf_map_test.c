/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"
#include "sym/perf_map.h"

static const char *name_at(const struct code_map *m, uint64_t address)
{
	const struct code_piece *p = code_map_find(m, address);

	return p ? p->name : "-";
}

static void later_lines_hold_over_earlier_ones(void **state)
{
	own(code_map_freep) struct code_map *m = code_map_new();
	own(buf_fini) struct buf text = { 0 };

	(void)state;
	buf_puts(&text, "1000 100 old one\n"
			"1080 100 newer\n"
			"0x2000 0x10 prefixed\r\n"
			"10c0 8 newest\n"
			"3000 0 empty\n"
			"bad line\n"
			"4000 zz bad\n"
			"fffffffffffffff0 20 wraps\n"
			"5000 10 last");
	assert_int_equal(perf_map_parse(&text, m), 7);
	code_map_finish(m);
	assert_string_equal(name_at(m, 0xfff), "-");
	assert_string_equal(name_at(m, 0x1000), "old one");
	assert_string_equal(name_at(m, 0x107f), "old one");
	assert_string_equal(name_at(m, 0x1080), "newer");
	assert_string_equal(name_at(m, 0x10c0), "newest");
	assert_string_equal(name_at(m, 0x10c8), "newer");
	assert_string_equal(name_at(m, 0x117f), "newer");
	assert_string_equal(name_at(m, 0x1180), "-");
	assert_string_equal(name_at(m, 0x2008), "prefixed");
	assert_string_equal(name_at(m, 0x3000), "-");
	assert_string_equal(name_at(m, 0x500f), "last");
	assert_string_equal(name_at(m, UINT64_MAX), "-");
}

/* Random pieces against the definition: the last that contains the address. */
static void any_overlap_is_settled_by_order(void **state)
{
	own(code_map_freep) struct code_map *m = code_map_new();

	(void)state;
	srand(1);
	for (int i = 0; i < 300; i++)
		code_map_add(m, &(struct code_piece){ (uint64_t)(rand() % 500),
						      (uint64_t)(rand() % 60 + 1), "",
						      (uint64_t)i });
	code_map_finish(m);
	for (uint64_t a = 0; a < 600; a++) {
		const struct code_piece *got = code_map_find(m, a), *want = NULL;

		for (size_t i = 0; i < code_map_count(m); i++) {
			const struct code_piece *p = code_map_at(m, i);

			if (a >= p->start && a - p->start < p->size)
				want = p;
		}
		assert_ptr_equal(got, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(later_lines_hold_over_earlier_ones),
		cmocka_unit_test(any_overlap_is_settled_by_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
