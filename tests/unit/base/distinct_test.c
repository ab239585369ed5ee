/* SPDX-License-Identifier: Apache-2.0 */
#include "base/distinct.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void add_range(struct distinct *d, uint64_t from, uint64_t to, uint64_t times)
{
	for (uint64_t i = from; i < to; i++)
		distinct_add(d, distinct_hash(i), times);
}

static void few_are_counted_exactly(void **state)
{
	(void)state;
	for (unsigned n = 0; n < DISTINCT_MAX; n++) {
		struct distinct d = { 0 };

		add_range(&d, 100, 100 + n, 1);
		add_range(&d, 100, 100 + n / 2, 3);
		assert_true(distinct_count(&d) == n);
		assert_true(distinct_once(&d) == n - n / 2);
	}
}

/* Whatever they are: one after the other, or far apart. */
static void many_are_estimated(void **state)
{
	static const uint64_t strides[] = { 1, 64, 4096, 1u << 30 };

	(void)state;
	for (unsigned s = 0; s < 4; s++)
		for (unsigned n = 100; n <= 1000000; n *= 10) {
			struct distinct d = { 0 };

			for (uint64_t i = 0; i < n; i++)
				distinct_add(&d, distinct_hash(i * strides[s]), 1);
			assert_true(fabs(distinct_count(&d) / n - 1) < 0.6);
			assert_true(distinct_once(&d) == distinct_count(&d));
		}
}

static void those_that_came_again_are_told_from_others(void **state)
{
	struct distinct d = { 0 };

	(void)state;
	add_range(&d, 0, 20000, 1);
	add_range(&d, 0, 15000, 1);
	assert_true(fabs(distinct_once(&d) / distinct_count(&d) - 0.25) < 0.2);
}

static void merged_is_what_one_would_be(void **state)
{
	struct distinct one = { 0 }, a = { 0 }, b = { 0 };

	(void)state;
	add_range(&one, 0, 3000, 2);
	add_range(&one, 2000, 5000, 5);
	add_range(&a, 0, 3000, 2);
	add_range(&b, 2000, 5000, 5);
	for (uint32_t i = 0; i < b.n; i++)
		distinct_add(&a, b.kept[i].hash, b.kept[i].times);
	assert_int_equal(a.n, one.n);
	assert_memory_equal(a.kept, one.kept, sizeof(a.kept));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_are_counted_exactly),
		cmocka_unit_test(many_are_estimated),
		cmocka_unit_test(those_that_came_again_are_told_from_others),
		cmocka_unit_test(merged_is_what_one_would_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
