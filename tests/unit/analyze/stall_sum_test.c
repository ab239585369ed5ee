/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_sum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "waiting_loop.h"

static double all_of(const struct stall_sum *s)
{
	return s->execution + stall_sum_static(s) + stall_sum_dynamic(s) + s->error;
}

static void all_parts_add_up(void **state)
{
	uint64_t x = 1;

	(void)state;
	for (unsigned turn = 0; turn < 200; turn++) {
		own(function_code_fini) struct function_code c;
		own(stall_fini) struct stalls s = { 0 };
		struct stall_sum sum = { 0 };

		waiting_loop_make(
			&c,
			WAITING_LOOP_CODE("\x48\x8b\x06\x48\x8b\x56\x10\x48\x83\xc6\x40"),
			1);
		/* As samples may fall. */
		c.blocks[0].cycles = c.cycles = 0;
		for (uint32_t i = 0; i < 3; i++) {
			double *at = i ? &c.steps[i].cycles : &c.blocks[0].arrival;

			x = x * 6364136223846793005u + 1442695040888963407u;
			*at = floor((double)(x >> 40) / (1 << 24) * 1000) *
			      WAITING_LOOP_SAMPLE;
			c.blocks[0].cycles += *at;
		}
		c.steps[0].cycles = 0;
		c.cycles = c.blocks[0].cycles +
			   7 * WAITING_LOOP_SAMPLE; /* of no known place */
		c.samples = (uint64_t)(c.cycles / WAITING_LOOP_SAMPLE);
		stall_find_all(&s, &c);
		assert_true(stall_sum_add(&sum, &c, &s));
		stall_sum_settle(&sum);
		assert_true(fabs(all_of(&sum) - c.cycles) < 1e-6 * c.cycles);
		for (unsigned i = 0; i < STALL_N_CAUSES; i++)
			assert_true(sum.low[i] >= 0 && sum.low[i] <= sum.high[i] &&
				    sum.high[i] <= sum.explained + 1e-6);
	}
}

/* Executed so much oftener than fits into its samples at best. */
static void add_samples(struct stall_sum *to, uint64_t samples, double oftener,
			uint8_t confidence)
{
	double cycles = (double)samples * WAITING_LOOP_SAMPLE;
	own(function_code_fini) struct function_code c;
	own(stall_fini) struct stalls s = { 0 };

	waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\x8b\x00"), 0);
	c.samples = samples;
	c.cycles = c.blocks[0].cycles = c.blocks[0].arrival = cycles;
	for (uint32_t i = 0; i < c.procedure->n_steps; i++)
		c.steps[i].cycles = 0;
	c.blocks[0].times = oftener * cycles / c.blocks[0].ideal;
	c.blocks[0].times_low = c.blocks[0].times / 2;
	c.blocks[0].times_high = c.blocks[0].times;
	c.blocks[1].times = c.blocks[1].times_low = c.blocks[1].times_high = 1;
	c.is_estimated = true;
	c.confidence = confidence;
	stall_find_all(&s, &c);
	assert_true(stall_sum_add(to, &c, &s));
}

static void add_guess(struct stall_sum *to, double oftener, uint8_t confidence)
{
	add_samples(to, 1, oftener, confidence);
}

/* Each of them may be by chance, all of them together not. */
static void what_is_guessed_is_no_more_than_the_cycles(void **state)
{
	struct stall_sum sum = { 0 };
	double each, high;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		add_guess(&sum, 3, FREQUENCY_LOW);
	assert_true(sum.best > 2.9 * sum.cycles);
	each = sum.best / sum.instructions;
	high = sum.instructions_high;
	stall_sum_settle(&sum);
	assert_true(fabs(all_of(&sum) - sum.cycles) < 1e-6 * sum.cycles);
	assert_true(sum.gain > -1e-6 * sum.cycles && sum.error > -1e-6 * sum.cycles);
	assert_true(fabs(sum.best - sum.cycles) < 1e-6 * sum.cycles);
	assert_true(fabs(sum.best / sum.instructions - each) < 1e-6 * each);
	assert_true(fabs(sum.best - sum.execution - stall_sum_static(&sum)) <
		    1e-6 * sum.best);
	/* A quarter more than the cycles, and the chance of a hundred samples. */
	assert_true(fabs(sum.instructions_high - high * (1.25 + 0.2) / 3) < 0.01 * high);
}

static void what_is_known_better_may_be_a_gain(void **state)
{
	struct stall_sum sum = { 0 };
	double high;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		add_guess(&sum, 3, FREQUENCY_MEDIUM);
	high = sum.instructions_high;
	stall_sum_settle(&sum);
	assert_true(fabs(all_of(&sum) - sum.cycles) < 1e-6 * sum.cycles);
	assert_true(sum.gain < -1.9 * sum.cycles);
	assert_true(sum.instructions_high == high);
}

/* What one guess is too high is not taken from what another left. */
static void guesses_that_fit_together_are_left_alone(void **state)
{
	struct stall_sum sum = { 0 };
	double best;

	(void)state;
	add_guess(&sum, 1.5, FREQUENCY_LOW);
	add_guess(&sum, 0.4, FREQUENCY_LOW);
	best = sum.best;
	stall_sum_settle(&sum);
	assert_true(sum.best == best);
	assert_true(fabs(all_of(&sum) - sum.cycles) < 1e-6 * sum.cycles);
}

/* Neither is there a gain in it, nor a stall, whatever one of them is too high. */
static void a_guess_that_is_too_high_has_the_time_that_others_left(void **state)
{
	struct stall_sum sum = { 0 };
	double best;

	(void)state;
	add_samples(&sum, 100, 2, FREQUENCY_LOW);
	for (unsigned i = 0; i < 200; i++)
		add_guess(&sum, 0.4, FREQUENCY_LOW);
	assert_true(sum.gain < -0.3 * sum.cycles);
	best = sum.best;
	stall_sum_settle(&sum);
	assert_true(sum.best == best && fabs(sum.gain) < 1e-6 * sum.cycles);
	assert_true(fabs(all_of(&sum) - sum.cycles) < 1e-6 * sum.cycles);
	assert_true(fabs(sum.error - (sum.cycles - best)) < 1e-6 * sum.cycles);
}

static void what_was_not_counted_tells_nothing(void **state)
{
	own(function_code_fini) struct function_code c;
	own(stall_fini) struct stalls s = { 0 };
	struct stall_sum sum = { 0 };

	(void)state;
	waiting_loop_make(&c, WAITING_LOOP_CODE("\x48\x8b\x00"), 0);
	for (uint32_t i = 0; i < c.procedure->n_blocks; i++)
		c.blocks[i].times = -1;
	for (uint32_t i = 0; i < c.procedure->n_steps; i++)
		c.steps[i].times = -1;
	stall_find_all(&s, &c);
	assert_false(stall_sum_add(&sum, &c, &s));
	assert_true(sum.cycles == 0);
}

static void a_cause_has_at_least_what_no_other_can_have(void **state)
{
	static const struct {
		struct stall stall;
		double low[2], high[2]; /* of D-cache misses and mispredicts */
	} t[] = {
		{ { .cycles = 10, .n = 1, .culprits = { { STALL_DCACHE, 0, -1 } } },
		  { 10, 0 },
		  { 10, 0 } },
		{ { .cycles = 10,
		    .n = 2,
		    .culprits = { { STALL_DCACHE, 0, -1 }, { STALL_BRANCH, 1, -1 } } },
		  { 0, 0 },
		  { 10, 10 } },
		{ { .cycles = 10,
		    .n = 2,
		    .culprits = { { STALL_DCACHE, 0, -1 }, { STALL_BRANCH, 1, 3 } } },
		  { 7, 0 },
		  { 10, 3 } },
		/* Two branches, which together explain not all. */
		{ { .cycles = 10,
		    .unexplained = 4,
		    .n = 2,
		    .culprits = { { STALL_BRANCH, 0, 2 }, { STALL_BRANCH, 1, 4 } } },
		  { 0, 6 },
		  { 0, 6 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		double low[STALL_N_CAUSES], high[STALL_N_CAUSES];

		stall_sum_ranges(&t[i].stall, low, high);
		assert_true(low[STALL_DCACHE] == t[i].low[0] &&
			    low[STALL_BRANCH] == t[i].low[1]);
		assert_true(high[STALL_DCACHE] == t[i].high[0] &&
			    high[STALL_BRANCH] == t[i].high[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_parts_add_up),
		cmocka_unit_test(what_is_guessed_is_no_more_than_the_cycles),
		cmocka_unit_test(what_is_known_better_may_be_a_gain),
		cmocka_unit_test(guesses_that_fit_together_are_left_alone),
		cmocka_unit_test(a_guess_that_is_too_high_has_the_time_that_others_left),
		cmocka_unit_test(what_was_not_counted_tells_nothing),
		cmocka_unit_test(a_cause_has_at_least_what_no_other_can_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
