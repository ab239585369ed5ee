/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/io_begun.h"

static bool add(struct io_begun *b, uint32_t thread, uint64_t frame)
{
	return io_begun_add(b,
			    &(struct io_begun_call){ .thread = thread, .frame = frame });
}

static void what_returns_takes_those_further_in_along(void **state)
{
	struct io_begun b = { 0 };

	(void)state;
	assert_true(add(&b, 1, 300) && add(&b, 1, 200) && add(&b, 1, 100));
	assert_true(add(&b, 2, 50));
	io_begun_end(&b, 1, 99);
	assert_int_equal(b.n, 4);
	io_begun_end(&b, 1, 200);
	assert_int_equal(b.n, 2);
	io_begun_end(&b, 3, 1000);
	io_begun_end(&b, 1, 1000);
	assert_int_equal(b.n, 1);
	assert_int_equal(b.innermost.n, 1);
	io_begun_fini(&b);
}

static void a_call_further_out_ends_what_a_jump_has_left(void **state)
{
	struct io_begun b = { 0 };

	(void)state;
	assert_true(add(&b, 1, 100) && add(&b, 1, 100) && add(&b, 1, 150));
	assert_int_equal(b.n, 1);
	assert_int_equal(b.places.n, 1); /* the same place */
	assert_true(io_begun_is_innermost(&b, &b.places.at[0]));
	assert_int_equal(b.places.at[0].frame, 150);
	assert_true(add(&b, 1, 120));
	assert_false(io_begun_is_innermost(&b, &b.places.at[0]));
	io_begun_fini(&b);
}

static void there_is_an_end_to_what_is_kept(void **state)
{
	struct io_begun b = { 0 };

	(void)state;
	for (uint64_t i = 0; i < IO_BEGUN_DEPTH_MAX; i++)
		assert_true(add(&b, 1, 1000 - i));
	assert_false(add(&b, 1, 1));
	assert_int_equal(b.n, IO_BEGUN_DEPTH_MAX);
	for (uint32_t i = 2; b.n < IO_BEGUN_MAX; i++)
		assert_true(add(&b, i, 1));
	assert_false(add(&b, UINT32_MAX, 1));
	io_begun_end(&b, 1, UINT64_MAX);
	assert_true(add(&b, UINT32_MAX, 1));
	io_begun_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_returns_takes_those_further_in_along),
		cmocka_unit_test(a_call_further_out_ends_what_a_jump_has_left),
		cmocka_unit_test(there_is_an_end_to_what_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
