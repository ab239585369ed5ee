/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frequency_bound.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "waiting_loop.h"

/* Three instructions, of which each takes a quarter of a cycle: in the time of the loop
 * it may have been executed so often at best. */
static void guess(struct function_code *c, double times, double high)
{
	waiting_loop_make(c, WAITING_LOOP_CODE("\x48\x8b\x00"), 0);
	c->is_estimated = true;
	c->confidence = FREQUENCY_LOW;
	for (uint32_t i = 0; i < 2; i++) {
		c->blocks[i].times_low = c->blocks[i].times;
		c->blocks[i].times_high = c->blocks[i].times * high;
		c->blocks[i].times *= times;
	}
	for (uint32_t i = 0; i < c->procedure->n_ways; i++) {
		c->ways[i].times_low = c->ways[i].times;
		c->ways[i].times_high = c->ways[i].times * high;
		c->ways[i].times *= times;
	}
}

/* With two standard deviations. */
static double most_of(const struct function_code *c)
{
	return (1.25 * c->cycles + 2 * sqrt((double)c->samples) * WAITING_LOOP_SAMPLE) /
	       c->blocks[0].ideal;
}

static void a_range_ends_where_the_best_case_takes_longer(void **state)
{
	static const struct {
		double times, high; /* of the fewest */
		bool ends, was_guessed_too_many;
	} t[] = {
		{ 2, 10, false, false },
		{ 2, 1000, true, false },
		{ 500, 1000, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code c = { 0 };
		const struct function_code_block *b;
		double want = t[i].high * WAITING_LOOP_TIMES;

		guess(&c, t[i].times, t[i].high);
		b = &c.blocks[0];
		want = t[i].ends ? most_of(&c) : want;
		frequency_bound(&c, WAITING_LOOP_SAMPLE);
		assert_true(fabs(b->times_high - want) < 1e-4 * want);
		assert_true(b->times_low == WAITING_LOOP_TIMES);
		want = t[i].was_guessed_too_many ? want : t[i].times * WAITING_LOOP_TIMES;
		assert_true(fabs(b->times - want) < 1e-4 * want);
		assert_true(b->times <= b->times_high);
		for (uint32_t k = 0; k < c.procedure->n_ways; k++)
			assert_true(c.ways[k].times_low <= c.ways[k].times &&
				    c.ways[k].times <= c.ways[k].times_high &&
				    c.ways[k].times_high <= b->times_high * 1.001);
	}
}

/* The end of the function was met by no sample: it may have been executed never, or once,
 * as it was. */
static void what_may_have_been_never_may_have_been_once(void **state)
{
	own(function_code_fini) struct function_code c = { 0 };

	(void)state;
	guess(&c, 500, 1000);
	c.blocks[1].times_low = 0;
	c.blocks[1].times_high = 100;
	frequency_bound(&c, WAITING_LOOP_SAMPLE);
	assert_true(c.blocks[0].times_high < 999 * WAITING_LOOP_TIMES);
	assert_true(c.blocks[1].times_low == 0);
	assert_true(c.blocks[1].times_high >= 1);
	assert_true(c.blocks[1].times > 0 && c.blocks[1].times <= c.blocks[1].times_high);
}

static void what_is_known_better_is_as_it_was(void **state)
{
	own(function_code_fini) struct function_code c = { 0 };

	(void)state;
	guess(&c, 500, 1000);
	c.confidence = FREQUENCY_MEDIUM;
	frequency_bound(&c, WAITING_LOOP_SAMPLE);
	assert_true(c.blocks[0].times_high == 1000 * WAITING_LOOP_TIMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_ends_where_the_best_case_takes_longer),
		cmocka_unit_test(what_may_have_been_never_may_have_been_once),
		cmocka_unit_test(what_is_known_better_is_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
