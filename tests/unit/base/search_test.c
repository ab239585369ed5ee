/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MOST 70

static void all_that_it_holds_for_come_first(void **state)
{
	(void)state;
	for (size_t n = 0; n <= MOST; n++)
		for (size_t first = 0; first <= n; first++)
			assert_int_equal(search_split(n, k, k < first), first);
}

/* As well where others are alike, before all and behind all. */
static void it_is_asked_of_none_that_is_not_there(void **state)
{
	static const unsigned in_order[] = { 3, 5, 5, 5, 8 };
	static const size_t below[] = { 0, 0, 0, 0, 1, 1, 4, 4, 4, 5, 5 };

	(void)state;
	for (unsigned x = 0; x < sizeof(below) / sizeof(below[0]); x++)
		assert_int_equal(search_split(5, i, in_order[i] < x), below[x]);
}

static void it_is_asked_seldom(void **state)
{
	size_t n_asked = 0;

	(void)state;
	assert_int_equal(search_split((size_t)1 << 40, i, (n_asked++, i < 12345)), 12345);
	assert_in_range(n_asked, 40, 41);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_it_holds_for_come_first),
		cmocka_unit_test(it_is_asked_of_none_that_is_not_there),
		cmocka_unit_test(it_is_asked_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
