/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calc_access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/own.h"

static struct access_place seen(uint64_t lines, uint64_t times)
{
	struct access_place a = { .low = 0, .high = 1000 };

	a.sums[ACCESS_MET] = lines * times;
	for (uint64_t i = 0; i < lines; i++)
		distinct_add(&a.lines, distinct_hash(i), times);
	distinct_add(&a.pages, distinct_hash(1), lines * times);
	return a;
}

static void assert_told(const struct access_place *a, const char *want)
{
	own(buf_fini) struct buf b = { 0 };

	calc_access_places(a, &b);
	assert_string_equal(buf_str(&b), want);
}

static void places_are_counted_as_far_as_they_were_seen(void **state)
{
	struct access_place none = seen(0, 0), few = seen(7, 3), once = seen(7, 1);

	(void)state;
	assert_told(&none, "");
	assert_told(&few, "7 lines in 1 page");
	/* Whoever comes only once is one of many. */
	assert_told(&once, "≥ 7 lines in 1 page");
}

static void many_are_told_about(void **state)
{
	struct access_place again = seen(5000, 2), once = seen(5000, 1);
	own(buf_fini) struct buf a = { 0 }, b = { 0 };

	(void)state;
	calc_access_places(&again, &a);
	calc_access_places(&once, &b);
	assert_memory_equal(buf_str(&a), "~", 1);
	assert_memory_equal(buf_str(&b), "≥ ", sizeof("≥ ") - 1);
}

/* Of a load from anywhere that was met twice in a row once, the one distance is no
 * stride. */
static void who_walks_was_seen_to_walk_often(void **state)
{
	static const struct {
		int64_t by;
		uint64_t strides;
		const char *told;
	} t[] = {
		{ 6003712, 1, "≥ 7 lines in 1 page" },
		{ 64, 15, "≥ 7 lines in 1 page" },
		{ 64, 16, "walks by 64 bytes over 1000 B" },
		{ -6003712, 100, "walks by -6,003,712 bytes over 1000 B" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct access_place a = seen(7, 1);

		a.sums[ACCESS_AGAIN] = t[i].strides;
		a.strides[0] = (struct access_place_stride){ .by = t[i].by,
							     .times = t[i].strides };
		assert_told(&a, t[i].told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_counted_as_far_as_they_were_seen),
		cmocka_unit_test(many_are_told_about),
		cmocka_unit_test(who_walks_was_seen_to_walk_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
