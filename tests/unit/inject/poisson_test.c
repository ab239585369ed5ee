/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/poisson.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define N    200000
#define MEAN 524288

/* Six standard errors of what a true sequence would show, of a seed that stays. */
static void distances_are_exponential(void **state)
{
	uint64_t random = poisson_seed(1, 2);
	double sum = 0, squares = 0, beyond[3] = { 0 };

	(void)state;
	for (int i = 0; i < N; i++) {
		double x = (double)poisson_next(&random, MEAN) / MEAN;

		sum += x;
		squares += x * x;
		for (int k = 0; k < 3; k++)
			beyond[k] += x > k + 0.5;
	}
	assert_true(fabs(sum / N - 1) < 6 / sqrt(N));
	assert_true(fabs(squares / N - 2) < 6 * sqrt(20) / sqrt(N));
	for (int k = 0; k < 3; k++) {
		double p = exp(-(k + 0.5));

		assert_true(fabs(beyond[k] / N - p) < 6 * sqrt(p * (1 - p) / N));
	}
}

static void no_mean_is_too_small_or_too_large(void **state)
{
	static const uint64_t means[] = { 1, 16, UINT64_C(1) << 40 };
	uint64_t random = poisson_seed(3, 4);

	(void)state;
	for (size_t k = 0; k < sizeof(means) / sizeof(means[0]); k++)
		for (int i = 0; i < N; i++)
			assert_true(poisson_next(&random, means[k]) <= 45 * means[k]);
}

static void a_seed_is_never_nothing_and_differs(void **state)
{
	(void)state;
	assert_int_not_equal(poisson_seed(0, 0), 0);
	assert_int_not_equal(poisson_seed(0, 4096), poisson_seed(0, 8192));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_exponential),
		cmocka_unit_test(no_mean_is_too_small_or_too_large),
		cmocka_unit_test(a_seed_is_never_nothing_and_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
