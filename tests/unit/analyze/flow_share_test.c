/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/flow_share.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "insn/procedure.h"

static void check(uint32_t n, struct procedure_block *blocks, const double *often,
		  const double *want)
{
	struct procedure p = { .n_blocks = n, .blocks = blocks };
	double share[8];

	flow_share_make(&p, often, share);
	for (uint32_t i = 0; i < n; i++)
		if (fabs(share[i] - want[i]) > 1e-9)
			fail_msg("block %u: %g, wanted %g", i, share[i], want[i]);
}

static void blocks_that_are_executed_as_often_share(void **state)
{
	struct procedure_block blocks[] = {
		{ .n_steps = 2 }, { .n_steps = 6 }, { .n_steps = 1 }, { .n_steps = 4 }
	};
	const double often[] = { 100, 10, 101, 0 };
	/* 200, 60, 101 and 0 of 361. */
	const double want[] = { 301.0 / 361, 60.0 / 361, 301.0 / 361, 0 };

	(void)state;
	check(4, blocks, often, want);
}

static void far_apart_is_alone(void **state)
{
	struct procedure_block blocks[] = { { .n_steps = 1 }, { .n_steps = 1 } };
	const double often[] = { 100, 103 }, want[] = { 100.0 / 203, 103.0 / 203 };

	(void)state;
	check(2, blocks, often, want);
}

static void nothing_executed_has_no_share(void **state)
{
	struct procedure_block blocks[] = { { .n_steps = 3 } };
	const double often[] = { 0 }, want[] = { 0 };

	(void)state;
	check(1, blocks, often, want);
	check(0, blocks, often, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_that_are_executed_as_often_share),
		cmocka_unit_test(far_apart_is_alone),
		cmocka_unit_test(nothing_executed_has_no_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
