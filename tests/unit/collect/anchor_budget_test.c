/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_budget.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000ULL

#define COST_NS	       (20 * MS)
#define PART	       0.01
#define TIME_OF_ONE_MS 2000 /* in which that is the part of the time */
#define N_RUNS	       20000u
#define N_BINS	       10u
#define N_SEEDS	       64u

/* Of many runs: windows by the tenth of the run, and the most that one spent beyond its
 * part. */
struct runs {
	unsigned in[N_BINS], n;
	double spent_ns, most_beyond_ns;
};

/* A window costs what is planned, or so much of it. */
static void run(struct runs *r, struct anchor_budget *b, uint64_t ms, double costs)
{
	*b = (struct anchor_budget){ .part = PART, .random = b->random };
	anchor_budget_plan(b, COST_NS, 1);
	for (uint64_t i = 0; i < ms; i++, b->cpu_ns += MS) {
		double beyond_ns;

		if (b->cpu_ns < b->due_ns)
			continue;
		b->spent_ns += (uint64_t)(costs * (double)COST_NS);
		anchor_budget_plan(b, (uint64_t)(costs * (double)COST_NS), 1);
		r->in[i * N_BINS / ms]++;
		r->n++;
		beyond_ns = (double)b->spent_ns - PART * (double)b->cpu_ns;
		if (beyond_ns > r->most_beyond_ns)
			r->most_beyond_ns = beyond_ns;
	}
	r->spent_ns += (double)b->spent_ns;
}

static struct runs runs_of(uint64_t ms, double costs)
{
	struct anchor_budget b = { .random = 7 };
	struct runs r = { 0 };

	for (unsigned i = 0; i < N_RUNS; i++)
		run(&r, &b, ms, costs);
	return r;
}

static void many_runs_spend_their_part_however_short_they_are(void **state)
{
	static const uint64_t ms[] = { 20, 200, 1000, 2000, 2700, 9000 };

	(void)state;
	for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		struct runs r = runs_of(ms[i], 1);
		double may_ns = (double)ms[i] * MS * PART * N_RUNS;
		/* Of so few windows chance is off by that much. */
		double off = 4 / sqrt(may_ns / (double)COST_NS);

		assert_true(fabs(r.spent_ns / may_ns - 1) < off);
	}
}

static void no_run_spends_more_than_a_window_beyond_its_part(void **state)
{
	static const double costs[] = { 0.4, 1, 2 };

	(void)state;
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		struct runs r = runs_of(2 * TIME_OF_ONE_MS, costs[i]);

		assert_true(r.n > N_RUNS / 2);
		assert_true(r.most_beyond_ns <= costs[i] * (double)COST_NS);
	}
}

static void no_moment_of_a_run_has_windows_oftener_than_another(void **state)
{
	static const uint64_t ms[] = { 700, TIME_OF_ONE_MS, 3 * TIME_OF_ONE_MS / 2,
				       9000 };

	(void)state;
	for (size_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		struct runs r = runs_of(ms[i], 1);
		double each = (double)(ms[i] * N_RUNS) / TIME_OF_ONE_MS / N_BINS;

		for (unsigned k = 0; k < N_BINS; k++)
			assert_true(fabs(r.in[k] - each) < 4 * sqrt(each));
	}
}

static void less_than_was_planned_makes_the_next_come_sooner(void **state)
{
	struct runs as_planned = runs_of(9000, 1), less = runs_of(9000, 0.5);

	(void)state;
	assert_in_range(less.n, as_planned.n * 3 / 2, as_planned.n * 9 / 4);
}

static void what_else_was_spent_is_within_it_before_another(void **state)
{
	struct anchor_budget b = { .part = 0.1, .random = 7, .spent_ns = 500 * MS };

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		anchor_budget_plan(&b, 10 * MS, 0.5);
		assert_in_range(b.due_ns, 5000 * MS, 5200 * MS);
	}
}

/* Of 10 ms in a second they take half of one. */
static void looks_take_a_small_part_of_it(void **state)
{
	const struct anchor_budget b = anchor_budget_of(0.01);

	(void)state;
	assert_int_equal(anchor_budget_look_ns(&b, MS / 40, 2000 * MS) / MS, 50);
	assert_int_equal(anchor_budget_look_ns(&b, 0, 2000 * MS) / MS, 20);
	assert_int_equal(anchor_budget_look_ns(&b, 10 * MS, 2000 * MS) / MS, 100);
	/* Who came lately may be gone as soon. */
	assert_int_equal(anchor_budget_look_ns(&b, 10 * MS, 50 * MS) / MS, 20);
}

/* Programs that are started one after the other have nothing in common. */
static void each_begins_with_a_chance_of_its_own(void **state)
{
	unsigned n_early = 0;

	(void)state;
	for (unsigned i = 0; i < N_SEEDS; i++) {
		struct anchor_budget b = anchor_budget_of(PART);

		anchor_budget_plan(&b, COST_NS, 1);
		n_early += b.due_ns < TIME_OF_ONE_MS * MS / 2;
	}
	assert_in_range(n_early, N_SEEDS / 8, N_SEEDS - N_SEEDS / 8);
}

static void chance_is_from_half_to_one_and_a_half(void **state)
{
	struct anchor_budget b = { .random = 1 };
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t ns = anchor_budget_chance(&b, 1000);

		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	assert_in_range(least, 500, 510);
	assert_in_range(most, 1490, 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_runs_spend_their_part_however_short_they_are),
		cmocka_unit_test(no_run_spends_more_than_a_window_beyond_its_part),
		cmocka_unit_test(no_moment_of_a_run_has_windows_oftener_than_another),
		cmocka_unit_test(less_than_was_planned_makes_the_next_come_sooner),
		cmocka_unit_test(what_else_was_spent_is_within_it_before_another),
		cmocka_unit_test(looks_take_a_small_part_of_it),
		cmocka_unit_test(each_begins_with_a_chance_of_its_own),
		cmocka_unit_test(chance_is_from_half_to_one_and_a_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
