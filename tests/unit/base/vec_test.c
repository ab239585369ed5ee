/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct point {
	int x, y;
};

static void pushed_elements_are_zeroed_and_kept(void **state)
{
	VEC(struct point) points = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct point *p = vec_push(&points);

		assert_int_equal(p->x, 0);
		assert_int_equal(p->y, 0);
		p->x = i;
		p->y = -i;
	}
	assert_int_equal(points.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(points.at[i].x, i);
	vec_fini(&points);
	assert_null(points.at);
	assert_int_equal(points.n + points.cap, 0);
}

static void each_visits_all_in_order(void **state)
{
	VEC(int) numbers = { 0 };
	int want = 0;

	(void)state;
	vec_each(n, &numbers) {
		fail_msg("an empty vector has element %d", *n);
	}
	for (int i = 0; i < 10; i++)
		*vec_push(&numbers) = i;
	vec_each(n, &numbers) {
		assert_int_equal(*n, want++);
	}
	assert_int_equal(want, 10);
	vec_fini(&numbers);
}

static void a_push_may_read_what_it_moves(void **state)
{
	VEC(int) numbers = { 0 };

	(void)state;
	*vec_push(&numbers) = 7;
	for (int i = 0; i < 100; i++) {
		int last = numbers.at[numbers.n - 1];

		*vec_push(&numbers) = last;
	}
	assert_int_equal(numbers.at[100], 7);
	vec_clear(&numbers);
	assert_int_equal(numbers.n, 0);
	assert_true(numbers.cap > 100);
	vec_fini(&numbers);
}

static void reserving_does_not_add(void **state)
{
	VEC(uint64_t) numbers = { 0 };

	(void)state;
	vec_reserve(&numbers, 500);
	assert_true(numbers.cap >= 500);
	assert_int_equal(numbers.n, 0);
	vec_fini(&numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushed_elements_are_zeroed_and_kept),
		cmocka_unit_test(each_visits_all_in_order),
		cmocka_unit_test(a_push_may_read_what_it_moves),
		cmocka_unit_test(reserving_does_not_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
