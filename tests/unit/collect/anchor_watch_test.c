/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LEAST_NS 10u
#define MOST_NS	 1000000u

static void what_a_breakpoint_costs_is_measured_once(void **state)
{
	struct anchor_watch_cost c = { 0 };
	uint64_t ns = anchor_watch_cost_ns(&c);

	(void)state;
	assert_true(c.is_known);
	if (ns) /* there are breakpoints here */
		assert_in_range(ns, LEAST_NS, MOST_NS);
	c.ns++;
	assert_int_equal(anchor_watch_cost_ns(&c), ns + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_breakpoint_costs_is_measured_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
