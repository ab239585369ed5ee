/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collect/heap_course.h"

static void hold(struct heap_course *c, uint64_t time_ns, uint64_t bytes)
{
	heap_course_add(c, time_ns, &(struct heap_point){ .bytes = bytes });
}

static void what_happens_in_one_span_is_one_point(void **state)
{
	struct heap_course c = { 0 };

	(void)state;
	hold(&c, 5000, 10);
	hold(&c, 6000, 30);
	hold(&c, 7000, 20);
	heap_course_end(&c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.at[0].most_bytes, 30);
	assert_int_equal(c.at[0].bytes, 20);
	assert_int_equal(c.at[0].end_ns, 5000 + HEAP_COURSE_SPAN);
}

static void nothing_is_no_point(void **state)
{
	struct heap_course c = { 0 };

	(void)state;
	heap_course_end(&c);
	assert_int_equal(c.n, 0);
	hold(&c, 1, 1);
	hold(&c, 10 * HEAP_COURSE_SPAN, 2);
	heap_course_end(&c);
	assert_int_equal(c.n, 2);
}

static void an_event_out_of_order_belongs_to_the_span_under_way(void **state)
{
	struct heap_course c = { 0 };

	(void)state;
	hold(&c, 3 * HEAP_COURSE_SPAN, 10);
	hold(&c, 2 * HEAP_COURSE_SPAN, 20);
	heap_course_end(&c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.at[0].bytes, 20);
}

/* Whatever the times, points are few, in order, and the most is never lost. */
static void any_course_fits(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 50; seed++) {
		struct heap_course c = { 0 };
		uint64_t time_ns = 1, most = 0, last = 0, found = 0;

		srand(seed);
		for (int i = 0; i < 20000; i++) {
			last = (uint64_t)rand() % 1000000;
			most = last > most ? last : most;
			time_ns += (uint64_t)rand() % (HEAP_COURSE_SPAN << seed % 12);
			hold(&c, time_ns, last);
		}
		heap_course_end(&c);
		assert_in_range(c.n, 1, HEAP_COURSE_POINTS);
		for (size_t i = 0; i < c.n; i++) {
			found = c.at[i].most_bytes > found ? c.at[i].most_bytes : found;
			assert_true(!i || c.at[i].end_ns > c.at[i - 1].end_ns);
		}
		assert_int_equal(found, most);
		assert_int_equal(c.at[c.n - 1].bytes, last);
		assert_true(c.at[c.n - 1].end_ns > time_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_happens_in_one_span_is_one_point),
		cmocka_unit_test(nothing_is_no_point),
		cmocka_unit_test(an_event_out_of_order_belongs_to_the_span_under_way),
		cmocka_unit_test(any_course_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
