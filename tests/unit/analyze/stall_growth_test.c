/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_growth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "waiting_loop.h"

#define LOAD WAITING_LOOP_CODE("\x48\x8b\x00") /* mov (%rax),%rax */
#define GREW (WAITING_LOOP_WAITED * WAITING_LOOP_TIMES)

/* The load waits, or it does not; by is how much oftener it is taken for. */
static void make(struct function_code *c, bool waits, double by)
{
	waiting_loop_make(c, LOAD, 0);
	if (!waits) {
		c->steps[0].cycles -= GREW;
		c->blocks[0].cycles -= GREW;
		c->cycles -= GREW;
		c->samples -= (uint64_t)(GREW / WAITING_LOOP_SAMPLE);
	}
	c->is_estimated = true;
	c->n_runs = 1;
	c->blocks[0].times *= by;
	c->blocks[0].times_low *= by / 5;
	c->blocks[0].times_high *= by * 5;
	for (uint32_t i = 0; i < c->procedure->blocks[0].n_steps; i++)
		c->steps[i].times *= by;
	for (uint32_t i = 0; i < c->procedure->n_ways; i++)
		c->ways[i].times *= by;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) < 0.01 * GREW;
}

static double all_of(const struct stall_growth *g)
{
	double sum = g->spread;

	for (size_t i = 0; i < g->places.n; i++)
		sum += g->places.at[i].cycles;
	return sum;
}

/* However often each of the runs is taken for to have executed it. */
static void what_grew_is_known_where_how_often_is_not(void **state)
{
	static const struct {
		double a, b;
	} t[] = { { 1, 1 }, { 0.1, 3 }, { 3, 0.1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(function_code_fini) struct function_code fast, slow;
		own(stall_growth_fini) struct stall_growth g = { 0 };

		make(&fast, false, t[i].a);
		make(&slow, true, t[i].b);
		assert_true(stall_growth_add(&g, &fast, &slow, 7));
		assert_true(is_near(g.cycles, GREW) && is_near(all_of(&g), g.cycles));
		assert_true(is_near(g.high[STALL_DCACHE], GREW));
		assert_true(is_near(g.high[STALL_DTLB], GREW));
		assert_true(is_near(g.low[STALL_DCACHE], 0));
		assert_true(is_near(g.high[STALL_DIVIDER], 0));
		assert_true(is_near(g.unexplained, 0) && is_near(g.spread, 0));
		assert_int_equal(g.places.n, 1);
		assert_int_equal(g.places.at[0].function, 7);
		assert_int_equal(g.places.at[0].address, WAITING_LOOP_START);
		assert_true(g.places.at[0].causes >> STALL_DCACHE & 1);
	}
}

static void what_became_faster_waits_less(void **state)
{
	own(function_code_fini) struct function_code fast, slow;
	own(stall_growth_fini) struct stall_growth g = { 0 };

	(void)state;
	make(&fast, false, 1);
	make(&slow, true, 1);
	assert_true(stall_growth_add(&g, &slow, &fast, 0));
	assert_true(is_near(g.cycles, -GREW) && is_near(all_of(&g), g.cycles));
	assert_true(is_near(g.low[STALL_DCACHE], -GREW));
	assert_true(is_near(g.high[STALL_DCACHE], 0));
}

static void what_chance_makes_is_no_growth(void **state)
{
	own(function_code_fini) struct function_code a, b;
	own(stall_growth_fini) struct stall_growth g = { 0 };
	/* A standard deviation of the load's samples. */
	double chance = sqrt(GREW * WAITING_LOOP_SAMPLE);

	(void)state;
	make(&a, true, 1);
	make(&b, true, 1);
	b.steps[0].cycles += chance;
	b.blocks[0].cycles += chance;
	b.cycles += chance;
	assert_true(stall_growth_add(&g, &a, &b, 0));
	assert_int_equal(g.places.n, 0);
	assert_true(fabs(g.cycles - chance) < 1 && fabs(g.spread - chance) < 1);
	assert_true(g.cycles < g.error);
	assert_true(g.high[STALL_DCACHE] == 0);
}

/* What a neighbour has less, as it waits behind the load now, is no gain. */
static void what_only_moved_is_no_growth(void **state)
{
	own(function_code_fini) struct function_code fast, slow;
	own(stall_growth_fini) struct stall_growth g = { 0 };

	(void)state;
	make(&fast, false, 1);
	make(&slow, true, 1);
	fast.steps[1].cycles += GREW / 4;
	fast.blocks[0].cycles += GREW / 4;
	fast.cycles += GREW / 4;
	assert_true(stall_growth_add(&g, &fast, &slow, 0));
	assert_true(is_near(g.cycles, 0.75 * GREW));
	assert_true(is_near(g.high[STALL_DCACHE], 0.75 * GREW));
	assert_int_equal(g.places.n, 1);
}

/* not (%rax) is not mov (%rax),%rax. */
static void other_code_tells_nothing(void **state)
{
	own(function_code_fini) struct function_code a, b;
	own(stall_growth_fini) struct stall_growth g = { 0 };

	(void)state;
	make(&a, false, 1);
	make(&b, true, 1);
	buf_puts(&a.code, "\x48\x8b");
	buf_puts(&b.code, "\x48\xf7");
	assert_false(stall_growth_add(&g, &a, &b, 0));
	assert_true(g.cycles == 0 && g.places.n == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_grew_is_known_where_how_often_is_not),
		cmocka_unit_test(what_became_faster_waits_less),
		cmocka_unit_test(what_chance_makes_is_no_growth),
		cmocka_unit_test(what_only_moved_is_no_growth),
		cmocka_unit_test(other_code_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
