/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/port_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/own.h"

enum { P0 = 1 << 0, P1 = 1 << 1, P2 = 1 << 2 };

static void each_port_does_one_thing_in_a_cycle(void **state)
{
	own(freep) struct port_plan *p = xcalloc(1, sizeof(*p));

	(void)state;
	assert_int_equal(port_plan_take(p, P0 | P1, 100, 1), 100);
	assert_int_equal(port_plan_take(p, P0 | P1, 100, 1), 100);
	assert_int_equal(port_plan_take(p, P0 | P1, 100, 1), 101);
	assert_int_equal(port_plan_take(p, P2, 100, 1), 100);
	/* What comes later in the code may be done earlier. */
	assert_int_equal(port_plan_take(p, P0 | P1, 99, 1), 99);
	assert_int_equal(p->n_taken[0] + p->n_taken[1], 4);
	assert_int_equal(p->n_taken[2], 1);
}

static void what_is_long_keeps_its_port(void **state)
{
	own(freep) struct port_plan *p = xcalloc(1, sizeof(*p));

	(void)state;
	/* Over the end of a word of the plan. */
	assert_int_equal(port_plan_take(p, P0, 120, 30), 120);
	assert_int_equal(port_plan_take(p, P0, 121, 1), 150);
	assert_int_equal(port_plan_take(p, P0, 119, 1), 119);
	assert_int_equal(p->n_taken[0], 32);
}

static void of_idle_ports_the_one_that_did_least_is_taken(void **state)
{
	own(freep) struct port_plan *p = xcalloc(1, sizeof(*p));

	(void)state;
	port_plan_take(p, P0, 10, 1);
	port_plan_take(p, P2, 11, 1);
	port_plan_take(p, P0 | P1 | P2, 20, 1);
	assert_int_equal(p->n_taken[1], 1);
}

static void what_is_long_ago_is_forgotten(void **state)
{
	own(freep) struct port_plan *p = xcalloc(1, sizeof(*p));

	(void)state;
	assert_int_equal(port_plan_take(p, P0, 64, 1), 64);
	assert_int_equal(port_plan_take(p, P0, 64 + PORT_PLAN_CYCLES, 1),
			 64 + PORT_PLAN_CYCLES);
	assert_int_equal(port_plan_take(p, P0, 64 + PORT_PLAN_CYCLES, 1),
			 65 + PORT_PLAN_CYCLES);
	assert_int_equal(port_plan_take(p, P0, 64, 1), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_port_does_one_thing_in_a_cycle),
		cmocka_unit_test(what_is_long_keeps_its_port),
		cmocka_unit_test(of_idle_ports_the_one_that_did_least_is_taken),
		cmocka_unit_test(what_is_long_ago_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
