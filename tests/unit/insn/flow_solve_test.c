/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/flow_solve.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/own.h"

#define MAX_BLOCKS 16
#define MAX_WAYS   40
#define OUT	   FLOW_SOLVE_OUTSIDE

/* A graph with its answer. */
struct truth {
	const char *name;
	struct flow_solve_way ways[MAX_WAYS]; /* up to one of 0s */
	double times[MAX_BLOCKS], costs[MAX_BLOCKS];
	uint32_t open_in, open_out; /* bits: blocks */
};

static const struct truth truths[] = {
	{ "diamond",
	  { { OUT, 0, 0 },
	    { 0, 1, 0 },
	    { 0, 2, 0 },
	    { 1, 3, 0 },
	    { 2, 3, 0 },
	    { 3, OUT, 0 } },
	  { 1e6, 7e5, 3e5, 1e6 },
	  { 1, 5, 2, 1 } },
	{ "loops in each other",
	  { { OUT, 0, 0 },
	    { 0, 1, 0 },
	    { 1, 2, 0 },
	    { 2, 2, 0 },
	    { 2, 3, 0 },
	    { 3, 1, 0 },
	    { 3, 4, 0 },
	    { 4, OUT, 0 } },
	  { 1e3, 1e5, 1e7, 1e5, 1e3 },
	  { 100, 10, 1, 3, 50 } },
	{ "irreducible",
	  { { OUT, 0, 0 },
	    { 0, 1, 0 },
	    { 0, 2, 0 },
	    { 1, 2, 0 },
	    { 2, 1, 0 },
	    { 1, 3, 0 },
	    { 3, OUT, 0 } },
	  { 1e5, 1e6, 9.6e5, 1e5 },
	  { 9, 4, 2, 7 } },
	{ "entered by ways that nobody knows",
	  { { OUT, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 2, OUT, 0 } },
	  { 1e4, 1e5, 1e5 },
	  { 5, 3, 3 },
	  1u << 1,
	  0 },
	{ "left by ways that nobody knows",
	  { { OUT, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 2, OUT, 0 } },
	  { 1e5, 1e5, 1e4 },
	  { 5, 3, 3 },
	  0,
	  1u << 1 },
	{ "never left",
	  { { OUT, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 2, 1, 0 } },
	  { 1e3, 1e6, 1e6 },
	  { 10, 2, 4 } },
	{ "one of the blocks takes no time that is known",
	  { { OUT, 0, 0 },
	    { 0, 1, 0 },
	    { 0, 2, 0 },
	    { 1, 3, 0 },
	    { 2, 3, 0 },
	    { 3, OUT, 0 } },
	  { 1e6, 8e5, 2e5, 1e6 },
	  { 1, 5, 0, 1 } },
};

/* The times are what the answer and the costs make; of 100 at once. */
struct asked {
	struct flow_solve_block blocks[MAX_BLOCKS];
	struct flow_solve_problem problem;
};

static uint32_t count_ways(const struct flow_solve_way *ways)
{
	uint32_t n = 0;

	while (ways[n].from || ways[n].to || ways[n].seen > 0)
		n++;
	return n;
}

static void ask(struct asked *a, const struct truth *t)
{
	*a = (struct asked){ 0 };
	a->problem = (struct flow_solve_problem){ .blocks = a->blocks,
						  .ways = t->ways,
						  .n_ways = count_ways(t->ways),
						  .grain = 10,
						  .doubt = 0.05 };
	for (uint32_t i = 0; i < MAX_BLOCKS && t->times[i] > 0; i++) {
		a->blocks[i] = (struct flow_solve_block){
			.time = t->times[i] * t->costs[i],
			.cost = t->costs[i],
			.is_open_in = t->open_in >> i & 1,
			.is_open_out = t->open_out >> i & 1,
		};
		a->problem.n_blocks++;
	}
}

static void check_conservation(const struct flow_solve_problem *p,
			       const struct flow_solve *s)
{
	own(freep) double *in = calloc(p->n_blocks + 1, sizeof(*in));
	own(freep) double *out = calloc(p->n_blocks + 1, sizeof(*out));

	for (uint32_t i = 0; i < p->n_ways; i++) {
		assert_true(isfinite(s->of_way[i]) && s->of_way[i] >= 0);
		if (p->ways[i].to != OUT)
			in[p->ways[i].to] += s->of_way[i];
		if (p->ways[i].from != OUT)
			out[p->ways[i].from] += s->of_way[i];
	}
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		double near = 1e-6 * s->of_block[i] + 1e-9;

		assert_true(isfinite(s->of_block[i]) && s->of_block[i] >= 0);
		assert_true(fabs(in[i] + s->unknown_in[i] - s->of_block[i]) <= near);
		assert_true(fabs(out[i] + s->unknown_out[i] - s->of_block[i]) <= near);
	}
}

static void graphs_whose_answer_is_known_get_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		const struct truth *t = &truths[i];
		own(flow_solve_finip) struct flow_solve s;
		struct asked a;

		ask(&a, t);
		flow_solve_make(&s, &a.problem);
		check_conservation(&a.problem, &s);
		for (uint32_t k = 0; k < a.problem.n_blocks; k++)
			if (fabs(s.of_block[k] / t->times[k] - 1) > 0.03)
				fail_msg("%s: block %u: %g instead of %g", t->name, k,
					 s.of_block[k], t->times[k]);
	}
}

/* Both arms are as fast as the other, and no time tells them apart. */
static void what_was_seen_of_a_branch_decides_where_time_does_not(void **state)
{
	struct flow_solve_block blocks[] = {
		{ 1e6, 1, 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, { 1e6, 1, 0, 0 }
	};
	struct flow_solve_way ways[] = { { OUT, 0, 0 }, { 0, 1, 900 }, { 0, 2, 100 },
					 { 1, 3, 0 },	{ 2, 3, 0 },   { 3, OUT, 0 } };
	struct flow_solve_problem p = { 4, 6, blocks, ways, 100, 0.1 };
	own(flow_solve_finip) struct flow_solve s;

	(void)state;
	flow_solve_make(&s, &p);
	check_conservation(&p, &s);
	assert_true(fabs(s.of_block[1] / 9e5 - 1) < 0.01);
	assert_true(fabs(s.of_block[2] / 1e5 - 1) < 0.05);
}

/* A branch to one of two arms that join again, of these times and costs; how often it was
 * seen to go to the first one.  The share of that. */
static double solve_fork(const double times[2], const double costs[2], double seen,
			 double likely)
{
	struct flow_solve_block blocks[] = { { 1e6, 1, 0, 0 },
					     { times[0], costs[0], 0, 0 },
					     { times[1], costs[1], 0, 0 },
					     { 1e6, 1, 0, 0 } };
	struct flow_solve_way ways[] = { { OUT, 0, 0, 0 },
					 { 0, 1, seen, likely },
					 { 0, 2, 0, likely > 0 ? 1 - likely : 0 },
					 { 1, 3, 0, 0 },
					 { 2, 3, 0, 0 },
					 { 3, OUT, 0, 0 } };
	struct flow_solve_problem p = { 4, 6, blocks, ways, 100, 0.1 };
	own(flow_solve_finip) struct flow_solve s;

	flow_solve_make(&s, &p);
	check_conservation(&p, &s);
	return s.of_block[1] / (s.of_block[1] + s.of_block[2]);
}

static void what_is_likely_decides_where_nothing_else_does(void **state)
{
	static const double none[2] = { 0, 0 }, costs[2] = { 1, 1 };
	static const double second[2] = { 0, 1e6 };

	(void)state;
	assert_true(fabs(solve_fork(none, none, 0, 0) - 0.5) < 0.01);
	assert_true(solve_fork(none, none, 0, 0.97) > 0.95);
	assert_true(solve_fork(none, none, 0, 0.03) < 0.05);
	assert_true(solve_fork(second, costs, 0, 0.97) < 0.1);
	assert_true(solve_fork(none, none, 100, 0.03) > 0.95);
}

/* Few branches go both ways about as often. */
static void one_passage_tells_most(void **state)
{
	static const double none[2] = { 0, 0 };

	(void)state;
	assert_true(solve_fork(none, none, 1, 0) > 0.9);
	assert_true(solve_fork(none, none, 1, 0) < solve_fork(none, none, 10, 0));
}

/* One of ten blocks in a row waits for memory: the others tell how often. */
static void one_block_that_waits_does_not_decide(void **state)
{
	struct flow_solve_block blocks[10];
	struct flow_solve_way ways[11] = { { OUT, 0, 0 } };
	struct flow_solve_problem p = { 10, 11, blocks, ways, 100, 0.1 };
	own(flow_solve_finip) struct flow_solve s;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		blocks[i] = (struct flow_solve_block){ i == 4 ? 1e8 : 1e6, 1, 0, 0 };
		ways[1 + i] = (struct flow_solve_way){ i, i < 9 ? i + 1 : OUT, 0 };
	}
	flow_solve_make(&s, &p);
	check_conservation(&p, &s);
	assert_true(s.of_block[0] > 0.99e6 && s.of_block[0] < 1.3e6);
}

static void without_samples_there_is_nothing(void **state)
{
	struct asked a;
	own(flow_solve_finip) struct flow_solve s;

	(void)state;
	ask(&a, &truths[1]);
	for (uint32_t i = 0; i < a.problem.n_blocks; i++)
		a.blocks[i].time = 0;
	flow_solve_make(&s, &a.problem);
	for (uint32_t i = 0; i < a.problem.n_blocks; i++)
		assert_true(s.of_block[i] == 0);
	check_conservation(&a.problem, &s);
}

static uint32_t seed = 7;

static uint32_t next_random(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* Each block leads on and, sometimes, somewhere else; flows by going round and round. */
static void random_truth(struct truth *t, uint32_t n)
{
	double shares[MAX_WAYS], now[MAX_BLOCKS] = { 1e4 }, next[MAX_BLOCKS];
	uint32_t n_ways = 0;

	*t = (struct truth){ .name = "random" };
	t->ways[n_ways] = (struct flow_solve_way){ OUT, 0, 0 };
	shares[n_ways++] = 1;
	for (uint32_t i = 0; i < n; i++) {
		double share = !i || next_random(2) ? 1 : 0.2 + next_random(700) / 1000.0;

		t->costs[i] = 1 + next_random(8);
		t->ways[n_ways] =
			(struct flow_solve_way){ i, i + 1 < n ? i + 1 : OUT, 0 };
		shares[n_ways++] = share;
		if (share == 1)
			continue;
		t->ways[n_ways] = (struct flow_solve_way){ i, next_random(n), 0 };
		shares[n_ways++] = 1 - share;
	}
	for (int round = 0; round < 20000; round++) {
		memset(next, 0, sizeof(next));
		for (uint32_t i = 0; i < n_ways; i++)
			if (t->ways[i].from != OUT && t->ways[i].to != OUT)
				next[t->ways[i].to] += now[t->ways[i].from] * shares[i];
		for (uint32_t i = 0; i < n; i++)
			t->times[i] += now[i];
		memcpy(now, next, sizeof(now));
	}
}

static void random_graphs_get_the_flow_that_made_the_samples(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		own(flow_solve_finip) struct flow_solve s;
		struct asked a;
		struct truth t;

		random_truth(&t, 2 + next_random(MAX_BLOCKS - 2));
		ask(&a, &t);
		flow_solve_make(&s, &a.problem);
		check_conservation(&a.problem, &s);
		assert_false(s.is_coarse);
		for (uint32_t k = 0; k < a.problem.n_blocks; k++)
			if (fabs(s.of_block[k] / t.times[k] - 1) > 0.05)
				fail_msg("graph %d, block %u: %g instead of %g", i, k,
					 s.of_block[k], t.times[k]);
	}
}

static void near_another_flow_the_same_is_found(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		own(flow_solve_finip) struct flow_solve before, far, near;
		struct asked a;
		struct truth t;

		random_truth(&t, 2 + next_random(MAX_BLOCKS - 2));
		ask(&a, &t);
		flow_solve_make(&before, &a.problem);
		for (uint32_t k = 0; k < a.problem.n_blocks; k++)
			a.blocks[k].cost *= 1 + next_random(50) / 100.0;
		flow_solve_make(&far, &a.problem);
		a.problem.near = &before;
		flow_solve_make(&near, &a.problem);
		check_conservation(&a.problem, &near);
		for (uint32_t k = 0; k < a.problem.n_blocks; k++)
			assert_true(fabs(near.of_block[k] / far.of_block[k] - 1) < 0.02);
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* As compilers write it: branches over a few blocks, and loops back. */
static void many_blocks_take_no_more_than_a_moment(void **state)
{
	enum { N = 20000 };
	own(freep) struct flow_solve_block *blocks = calloc(N, sizeof(*blocks));
	own(freep) struct flow_solve_way *ways = calloc(2 * N + 1, sizeof(*ways));
	struct flow_solve_problem p = {
		.n_blocks = N, .blocks = blocks, .ways = ways, .grain = 100, .doubt = 0.5
	};
	own(flow_solve_finip) struct flow_solve s;
	double begin;

	(void)state;
	ways[p.n_ways++] = (struct flow_solve_way){ OUT, 0, 0 };
	for (uint32_t i = 0; i < N; i++) {
		uint32_t other = i % 16 == 15 ? i - next_random(14) : i + 1 + i % 3;

		blocks[i] = (struct flow_solve_block){ next_random(100000), 2, 0, 0 };
		ways[p.n_ways++] =
			(struct flow_solve_way){ i, i + 1 < N ? i + 1 : OUT, 0 };
		ways[p.n_ways++] = (struct flow_solve_way){ i, other < N ? other : OUT,
							    i % 5 ? 0 : next_random(50) };
	}
	begin = seconds();
	flow_solve_make(&s, &p);
	check_conservation(&p, &s);
	print_message("# %d blocks: %.0f ms, %u rounds\n", N, 1e3 * (seconds() - begin),
		      s.n_rounds);
	assert_false(s.is_coarse);
	assert_true(seconds() - begin < 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_whose_answer_is_known_get_it),
		cmocka_unit_test(what_was_seen_of_a_branch_decides_where_time_does_not),
		cmocka_unit_test(what_is_likely_decides_where_nothing_else_does),
		cmocka_unit_test(one_passage_tells_most),
		cmocka_unit_test(one_block_that_waits_does_not_decide),
		cmocka_unit_test(without_samples_there_is_nothing),
		cmocka_unit_test(random_graphs_get_the_flow_that_made_the_samples),
		cmocka_unit_test(near_another_flow_the_same_is_found),
		cmocka_unit_test(many_blocks_take_no_more_than_a_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
