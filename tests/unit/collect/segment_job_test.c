/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/segment_job.h"

#define SECOND UINT64_C(1000000000)
#define NOON   UINT64_C(1795262400)

static void expect(uint64_t now_ns, uint64_t lasted_ns, int64_t from_s, int64_t to_s)
{
	struct segment_job_span s = segment_job_span(now_ns, lasted_ns);

	assert_int_equal(s.from_s, from_s);
	assert_int_equal(s.to_s, to_s);
	assert_true(s.from_s < s.to_s);
}

static void a_span_ends_now_and_is_as_long_as_it_lasted(unused void **state)
{
	expect(NOON * SECOND, 600 * SECOND, (int64_t)NOON - 600, (int64_t)NOON);
}

/* What the clock was when it began is not asked for: set back or forth since then, the
 * span is as long as before. */
static void a_clock_that_was_set_moves_it(unused void **state)
{
	expect((NOON - 86400) * SECOND, 600 * SECOND, (int64_t)NOON - 87000,
	       (int64_t)NOON - 86400);
	expect((NOON + 86400) * SECOND, 600 * SECOND, (int64_t)NOON + 85800,
	       (int64_t)NOON + 86400);
}

static void less_than_a_second_is_a_second(unused void **state)
{
	expect(NOON * SECOND + 900000000, 300000000, (int64_t)NOON, (int64_t)NOON + 1);
	expect(NOON * SECOND, 0, (int64_t)NOON, (int64_t)NOON + 1);
}

static void a_clock_at_its_beginning_is_no_trouble(unused void **state)
{
	expect(5 * SECOND, 600 * SECOND, 0, 5);
	expect(0, 600 * SECOND, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_ends_now_and_is_as_long_as_it_lasted),
		cmocka_unit_test(a_clock_that_was_set_moves_it),
		cmocka_unit_test(less_than_a_second_is_a_second),
		cmocka_unit_test(a_clock_at_its_beginning_is_no_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
