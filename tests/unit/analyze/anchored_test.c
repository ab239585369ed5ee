/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchored.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyze/anchoring.h"
#include "insn/machine_model.h"
#include "waiting_loop.h"

/* The loop is the first block, and what it returns by the other. */
static bool estimate(struct function_code *c, double loop_in_windows,
		     double return_in_windows)
{
	struct anchoring_block blocks[2] = { { loop_in_windows, 0.05 },
					     { return_in_windows, 0.05 } };
	struct anchoring_way ways[8] = { 0 };

	assert_true(c->procedure->n_ways <= 8);
	for (uint32_t i = 0; i < c->procedure->n_ways; i++)
		if (c->procedure->ways[i].from == 0)
			ways[i] = (struct anchoring_way){
				.is_told = true, .share = c->procedure->ways[i].to == 0
			};
	c->model = machine_model_find("zen5");
	assert_non_null(c->model);
	return anchored_estimate(c, blocks, ways);
}

static void windows_that_met_the_time_tell(void **state)
{
	own(function_code_fini) struct function_code c = { 0 };

	(void)state;
	waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\x8b\x00"), 0);
	assert_true(estimate(&c, 3e6, 3));
	assert_float_equal(c.blocks[0].times, 3e6, 1);
	assert_true(c.blocks[0].confidence == FREQUENCY_HIGH);
}

/* They met who returns, as often as it is called, and never the loop: three times would
 * be millions of cycles each. */
static void windows_that_met_little_of_the_time_do_not(void **state)
{
	own(function_code_fini) struct function_code c = { 0 };

	(void)state;
	waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\x8b\x00"), 0);
	assert_false(estimate(&c, 0, 3));
	assert_false(c.is_estimated);
}

static void what_no_window_met_went_on_for_its_time(void **state)
{
	own(function_code_fini) struct function_code c = { 0 };
	const struct function_code_block *b;

	(void)state;
	waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\x8b\x00"), 0);
	b = &c.blocks[1];
	c.blocks[1].samples = 100;
	c.blocks[1].cycles = 1e6; /* of one instruction */
	assert_true(estimate(&c, 1e6, 0));
	assert_true(b->times_low > 500 && b->times_low < 1000);
	assert_true(b->times_high >= 1e6 && b->times_high < 1e8);
	assert_true(b->times_low <= b->times && b->times <= b->times_high);
	assert_true(b->confidence == FREQUENCY_LOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_that_met_the_time_tell),
		cmocka_unit_test(windows_that_met_little_of_the_time_do_not),
		cmocka_unit_test(what_no_window_met_went_on_for_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
