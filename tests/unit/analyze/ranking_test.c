/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/ranking.h"
#include "base/own.h"

static size_t rank(const struct ranking_options *o, struct ranking_row *rows)
{
	static const struct ranking_row all[] = {
		{ .id = 0, .value = 10 },	   { .id = 1, .value = 60 },
		{ .id = 2, .value = 30 },	   { .id = 3, .value = 0, .tie = 5 },
		{ .id = 4, .value = 0, .tie = 0 },
	};

	memcpy(rows, all, sizeof(all));
	return ranking_order(rows, 5, o);
}

static void the_heaviest_is_first_and_nothing_is_never_shown(void **state unused)
{
	struct ranking_row rows[5];

	assert_int_equal(rank(&(struct ranking_options){ .total = 100 }, rows), 4);
	assert_int_equal(rows[0].id, 1);
	assert_int_equal(rows[1].id, 2);
	assert_int_equal(rows[2].id, 0);
	assert_int_equal(rows[3].id, 3);
}

static void limits_cut_by_number_share_and_cumulative_share(void **state unused)
{
	static const struct {
		struct ranking_options o;
		size_t want;
	} t[] = {
		{ { .limit = 2, .total = 100 }, 2 },
		{ { .min_pct = 20, .total = 100 }, 2 },
		{ { .min_pct = 30, .total = 100 }, 2 },
		{ { .cumulative = 60, .total = 100 }, 1 },
		{ { .cumulative = 61, .total = 100 }, 2 },
		{ { .cumulative = 100, .total = 100 }, 3 },
		{ { .limit = 1, .cumulative = 90, .total = 100 }, 1 },
	};
	struct ranking_row rows[5];

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(rank(&t[i].o, rows), t[i].want);
}

static void equal_rows_are_ordered_by_name(void **state unused)
{
	struct ranking_row rows[] = { { .id = 0, .value = 1, .name = "b" },
				      { .id = 1, .value = 1, .name = "a" } };

	ranking_order(rows, 2, &(struct ranking_options){ .total = 2 });
	assert_int_equal(rows[0].id, 1);
}

static void by_name_orders_the_rows_that_are_shown(void **state unused)
{
	struct ranking_row rows[] = { { .id = 0, .value = 1, .name = "a" },
				      { .id = 1, .value = 3, .name = "c" },
				      { .id = 2, .value = 2, .name = "b" } };
	struct ranking_options o = { .total = 6, .limit = 2, .by_name = true };

	assert_int_equal(ranking_order(rows, 3, &o), 2);
	assert_int_equal(rows[0].id, 2);
	assert_int_equal(rows[1].id, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_heaviest_is_first_and_nothing_is_never_shown),
		cmocka_unit_test(limits_cut_by_number_share_and_cumulative_share),
		cmocka_unit_test(equal_rows_are_ordered_by_name),
		cmocka_unit_test(by_name_orders_the_rows_that_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
