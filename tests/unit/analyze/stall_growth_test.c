/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_growth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "waiting_loop.h"

#define LOAD WAITING_LOOP_CODE("\x48\x8b\x00") /* mov (%rax),%rax */
/* mov (%rsi),%rax; add $8,%rsi */
#define WALK WAITING_LOOP_CODE("\x48\x8b\x06\x48\x83\xc6\x08")
#define GREW (WAITING_LOOP_WAITED * WAITING_LOOP_TIMES)

/* The load waits, or it does not; by is how much oftener it is taken for. */
static void make_of(struct function_code *c, const char *code, size_t size, bool waits,
		    double by)
{
	waiting_loop_make(c, code, size, 0);
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

static void make(struct function_code *c, bool waits, double by)
{
	make_of(c, LOAD, waits, by);
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

/* Which are added up where how often is an estimate. */
static void as_if_recorded(struct function_code *c, unsigned n_runs)
{
	c->n_runs = n_runs;
	c->cycles *= n_runs;
	c->samples *= n_runs;
	for (uint32_t i = 0; i < c->procedure->n_steps; i++) {
		c->steps[i].cycles *= n_runs;
		c->steps[i].times *= n_runs;
	}
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++) {
		struct function_code_block *b = &c->blocks[i];

		b->cycles *= n_runs;
		b->arrival *= n_runs;
		b->times *= n_runs;
		b->times_low *= n_runs;
		b->times_high *= n_runs;
	}
	for (uint32_t i = 0; i < c->procedure->n_ways; i++) {
		c->ways[i].times *= n_runs;
		c->ways[i].times_low *= n_runs;
		c->ways[i].times_high *= n_runs;
	}
}

/* Pages cannot have taken all of it: a new one comes each 512 times. */
static void several_runs_grew_as_one_did(void **state)
{
	struct stall_growth of[2] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		own(function_code_fini) struct function_code fast, slow;

		make_of(&fast, WALK, false, 1);
		make_of(&slow, WALK, true, 1);
		as_if_recorded(&fast, i ? 2 : 1);
		as_if_recorded(&slow, i ? 3 : 1);
		assert_true(stall_growth_add(&of[i], &fast, &slow, 0));
	}
	assert_true(of[0].high[STALL_DTLB] > 0.01 * GREW &&
		    of[0].high[STALL_DTLB] < 0.6 * GREW);
	assert_true(is_near(of[0].cycles, of[1].cycles));
	for (unsigned i = 0; i < STALL_N_CAUSES; i++)
		assert_true(is_near(of[0].low[i], of[1].low[i]) &&
			    is_near(of[0].high[i], of[1].high[i]));
	stall_growth_fini(&of[0]);
	stall_growth_fini(&of[1]);
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
		cmocka_unit_test(several_runs_grew_as_one_did),
		cmocka_unit_test(other_code_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
