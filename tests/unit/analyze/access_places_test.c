/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/access_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define STEP 3

static void add(struct access_places *p, enum model_access_what what, uint64_t value,
		uint64_t times)
{
	access_places_add(
		p, STEP,
		&(struct model_access){ .what = what, .value = value, .times = times });
}

static void what_is_told_twice_adds_up(void **state)
{
	struct access_places p;
	const struct access_place *a;

	(void)state;
	access_places_init(&p, 5);
	assert_null(access_places_of(&p, STEP));
	for (unsigned i = 0; i < 2; i++) {
		add(&p, ACCESS_MET, 10, 40);
		add(&p, ACCESS_UNKNOWN, 0, 5);
		add(&p, ACCESS_LINE, 77, 3);
		add(&p, ACCESS_LINE, 78 + i, 1);
		add(&p, ACCESS_PAGE, 1, 10);
		add(&p, ACCESS_LOWEST, 0x1000 - i, 1);
		add(&p, ACCESS_HIGHEST, 0x2000 - i, 1);
	}
	a = access_places_of(&p, STEP);
	assert_null(access_places_of(&p, STEP - 1));
	assert_int_equal(a->samples, 20);
	assert_int_equal(a->sums[ACCESS_MET], 80);
	assert_int_equal(a->sums[ACCESS_UNKNOWN], 10);
	assert_true(distinct_count(&a->lines) == 3 && distinct_once(&a->lines) == 2);
	assert_true(distinct_count(&a->pages) == 1);
	assert_int_equal(a->low, 0xfff);
	assert_int_equal(a->high, 0x2000);
	access_places_fini(&p);
}

static void the_most_frequent_stride_is_told(void **state)
{
	struct access_places p;
	int64_t by = 0;

	(void)state;
	access_places_init(&p, 5);
	add(&p, ACCESS_AGAIN, 0, 200);
	assert_true(access_places_main_stride(access_places_of(&p, STEP), &by) == 0);
	for (uint64_t i = 1; i < 40; i++)
		add(&p, ACCESS_STRIDE, i * 100, 1);
	add(&p, ACCESS_STRIDE, 127, 60); /* -64 */
	add(&p, ACCESS_STRIDE, 127, 40);
	assert_true(access_places_main_stride(access_places_of(&p, STEP), &by) == 0.5);
	assert_int_equal(by, -64);
	access_places_fini(&p);
}

static void what_later_versions_tell_is_left_out(void **state)
{
	struct access_places p;

	(void)state;
	access_places_init(&p, 5);
	add(&p, ACCESS_N_WHATS, 1, 1);
	add(&p, UINT32_MAX, 1, 1);
	for (unsigned i = 0; i < ACCESS_N_WHATS; i++)
		assert_int_equal(access_places_of(&p, STEP)->sums[i], 0);
	access_places_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_told_twice_adds_up),
		cmocka_unit_test(the_most_frequent_stride_is_told),
		cmocka_unit_test(what_later_versions_tell_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
