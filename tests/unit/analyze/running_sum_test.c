/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/running_sum.h"
#include "base/own.h"

#define N 8

static size_t scan(const uint64_t *weights, size_t first, uint64_t at)
{
	for (; at >= weights[first]; first++)
		at -= weights[first];
	return first;
}

/* weights: of which 0 are among. */
static void check_all_parts(const uint64_t *weights)
{
	uint64_t sums[N + 1] = { 0 };

	for (size_t i = 0; i < N; i++)
		sums[i + 1] = sums[i] + weights[i];
	for (size_t first = 0; first < N; first++)
		for (size_t end = first + 1; end <= N; end++)
			for (uint64_t at = 0; at < running_sum_of(sums, first, end); at++)
				assert_int_equal(running_sum_find(sums, first, end, at),
						 scan(weights, first, at));
}

static void the_same_is_found_as_by_scanning(void **state unused)
{
	static const uint64_t t[][N] = {
		{ 1, 1, 1, 1, 1, 1, 1, 1 }, { 9, 4, 2, 1, 1, 0, 0, 0 },
		{ 0, 0, 3, 0, 0, 5, 0, 2 }, { 0, 0, 0, 0, 0, 0, 0, 1 },
		{ 7, 0, 0, 0, 0, 0, 0, 7 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check_all_parts(t[i]);
}

static void large_weights_before_the_part_do_not_matter(void **state unused)
{
	static const uint64_t sums[] = { 0, UINT64_MAX - 1, 2, 7 }; /* the last wrap */

	assert_int_equal(running_sum_of(sums, 1, 3), 9);
	assert_int_equal(running_sum_find(sums, 1, 3, 3), 1);
	assert_int_equal(running_sum_find(sums, 1, 3, 4), 2);
	assert_int_equal(running_sum_find(sums, 1, 3, 8), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_is_found_as_by_scanning),
		cmocka_unit_test(large_weights_before_the_part_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
