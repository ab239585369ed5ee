/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_scales.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"
#include "waiting_loop.h"

#define LAST (STALL_SCALES_MANY - 1)

/* A load that waits, or does not, is told by samples to have been executed from a tenth
 * as often as it was to four times as often. */
#define FEWEST (0.1 * WAITING_LOOP_TIMES)
#define MOST   (4 * WAITING_LOOP_TIMES)

static void guess(struct function_code *c)
{
	c->is_estimated = true;
	c->blocks[0].times_low = FEWEST;
	c->blocks[0].times_high = MOST;
	c->blocks[1].times_low = c->blocks[1].times_high = c->blocks[1].times;
}

static void make_load(struct function_code *c)
{
	waiting_loop_make(c, WAITING_LOOP_CODE("\x48\x8b\x00\x48\x8b\x00"), 0);
}

/* The exact one's. */
static void sum_as(struct stall_sum *ret, double times)
{
	own(function_code_fini) struct function_code c = { 0 };
	own(stall_fini) struct stalls s = { 0 };
	double by = times / WAITING_LOOP_TIMES;

	make_load(&c);
	c.blocks[0].times = times;
	for (uint32_t i = 0; i < c.procedure->blocks[0].n_steps; i++)
		c.steps[i].times = times;
	for (uint32_t i = 0; i < c.procedure->n_ways; i++)
		c.ways[i].times *= by;
	*ret = (struct stall_sum){ 0 };
	stall_find_all(&s, &c);
	assert_true(stall_sum_add(ret, &c, &s));
	stall_sum_settle(ret);
}

static double all_of(const struct stall_sum *s)
{
	return s->execution + stall_sum_static(s) + stall_sum_dynamic(s) + s->error;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-4 * fmax(fabs(a), fabs(b)) + 1e-6;
}

static void each_scale_is_as_if_it_had_been_counted(void **state)
{
	own(function_code_fini) struct function_code c = { 0 };
	struct stall_scales s = { 0 };
	double step = pow(MOST / FEWEST, 1.0 / LAST);

	(void)state;
	make_load(&c);
	guess(&c);
	stall_scales_add(&s, &c);
	stall_scales_settle(&s);
	for (unsigned i = 0; i < STALL_SCALES_MANY; i++) {
		struct stall_sum want;

		sum_as(&want, FEWEST * pow(step, i));
		assert_true(is_near(all_of(&s.at[i]), c.cycles));
		assert_true(is_near(stall_sum_static(&s.at[i]), stall_sum_static(&want)));
		assert_true(
			is_near(stall_sum_dynamic(&s.at[i]), stall_sum_dynamic(&want)));
		assert_true(is_near(s.at[i].execution, want.execution));
		for (unsigned k = 0; k < STALL_N_CAUSES; k++)
			assert_true(s.low[k] <= want.low[k] + 1e-4 * c.cycles &&
				    want.high[k] <= s.high[k] + 1e-4 * c.cycles);
	}
	/* Nothing of it is left in the function. */
	assert_true(c.blocks[0].times == WAITING_LOOP_TIMES);
}

/* 21 cycles each time, of which one is the best case: all of them, or a twentieth of
 * them, if it was executed so much more seldom. */
static void fewer_times_leave_more_to_stalls(void **state)
{
	own(function_code_fini) struct function_code c = { 0 };
	struct stall_scales s = { 0 };

	(void)state;
	make_load(&c);
	guess(&c);
	stall_scales_add(&s, &c);
	stall_scales_settle(&s);
	assert_true(s.at[0].instructions < s.at[LAST].instructions);
	for (unsigned i = 0; i < LAST; i++) {
		assert_true(stall_sum_dynamic(&s.at[i]) >
			    stall_sum_dynamic(&s.at[i + 1]));
		assert_true(s.at[i].execution < s.at[i + 1].execution);
	}
	assert_true(is_near(stall_sum_static(&s.at[LAST]) + s.at[LAST].execution,
			    MOST / FEWEST *
				    (stall_sum_static(&s.at[0]) + s.at[0].execution)));
	assert_true(s.high[STALL_DCACHE] > 0.9 * c.cycles);
}

/* From never to ten times: at the begin it takes nothing, at the end as often as that. */
static void what_may_have_been_never_is_none_at_the_begin(void **state)
{
	own(function_code_fini) struct function_code c = { 0 };
	struct stall_scales s = { 0 };
	double of_loop;

	(void)state;
	make_load(&c);
	guess(&c);
	of_loop = c.procedure->blocks[0].n_steps * FEWEST;
	c.blocks[1].times_low = 0;
	c.blocks[1].times_high = 10;
	stall_scales_add(&s, &c);
	stall_scales_settle(&s);
	assert_true(fabs(s.at[0].instructions - of_loop) < 0.01);
	of_loop = c.procedure->blocks[0].n_steps * MOST;
	assert_true(fabs(s.at[LAST].instructions - of_loop - 10) < 0.01);
}

static void functions_have_their_most_each_where_it_is(void **state)
{
	own(function_code_fini) struct function_code few = { 0 }, many = { 0 };
	struct stall_scales s = { 0 }, one = { 0 }, other = { 0 };

	(void)state;
	make_load(&few);
	make_load(&many);
	guess(&few);
	guess(&many);
	many.blocks[0].times_low = many.blocks[0].times;
	stall_scales_add(&s, &few);
	stall_scales_add(&s, &many);
	stall_scales_add(&one, &few);
	stall_scales_add(&other, &many);
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		assert_true(is_near(s.low[i], one.low[i] + other.low[i]));
		assert_true(is_near(s.high[i], one.high[i] + other.high[i]));
	}
	assert_true(is_near(s.at[LAST].cycles, few.cycles + many.cycles));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_scale_is_as_if_it_had_been_counted),
		cmocka_unit_test(fewer_times_leave_more_to_stalls),
		cmocka_unit_test(what_may_have_been_never_is_none_at_the_begin),
		cmocka_unit_test(functions_have_their_most_each_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
