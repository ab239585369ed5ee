/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_meters.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A call of a program: how often it was met natively in the millisecond before a window,
 * 0: it had no counter then; and how often in the window. */
struct call {
	uint64_t addr;
	double near;
	uint64_t times;
};

static double window_ns(const struct call *calls, size_t n)
{
	struct anchor_record r = { 0 };
	struct anchor_meters m = { .record = &r };
	double ns;

	for (size_t i = 0; i < n; i++) {
		struct anchor_site site = { .addr = calls[i].addr,
					    .times = calls[i].times };

		*vec_push(&m.counters.at) = (struct anchor_counter){ .site = site };
		*vec_push(&m.at) =
			(struct anchor_meter){ .near_hits = calls[i].near,
					       .near_rate = calls[i].near / 1e6 };
		if (site.times)
			*vec_push(&r.sites) = site;
	}
	/* One that has none. */
	*vec_push(&r.sites) = (struct anchor_site){ .addr = 1, .times = 1000000 };
	ns = anchor_meters_window_ns(&m);
	vec_fini(&m.at);
	vec_fini(&m.counters.at);
	vec_fini(&r.sites);
	return ns;
}

static void assert_ns(const struct call *calls, size_t n, double ns)
{
	assert_true(fabs(window_ns(calls, n) - ns) < 1);
}

static void calls_tell_how_long_a_window_takes_natively(void **state)
{
	static const struct call calls[] = { { 0x1000, 300, 600 }, { 0x2000, 100, 200 } };

	(void)state;
	assert_ns(calls, 1, 2e6);
	assert_ns(calls, 2, 2e6);
}

static void what_a_window_has_not_tells_as_well(void **state)
{
	static const struct call calls[] = { { 0x1000, 300, 600 }, { 0x2000, 100, 0 } };

	(void)state;
	assert_ns(calls, 2, 1.5e6);
}

static void what_had_no_counter_before_tells_nothing(void **state)
{
	static const struct call calls[] = { { 0x1000, 300, 600 }, { 0x2000, 0, 9000 } };

	(void)state;
	assert_ns(calls, 2, 2e6);
	assert_ns(calls + 1, 1, 0);
}

static void few_tell_nothing(void **state)
{
	static const struct call near = { 0x1000, 20, 600 }, in = { 0x1000, 300, 20 };

	(void)state;
	assert_ns(&near, 1, 0);
	assert_ns(&in, 1, 0);
	assert_ns(&in, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_tell_how_long_a_window_takes_natively),
		cmocka_unit_test(what_a_window_has_not_tells_as_well),
		cmocka_unit_test(what_had_no_counter_before_tells_nothing),
		cmocka_unit_test(few_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
