/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/flow_chain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/own.h"

#define MAX_BLOCKS 12
#define MAX_WAYS   (4 * MAX_BLOCKS + 1)

struct graph {
	uint32_t n_blocks;
	size_t n_ways;
	struct flow_chain_way ways[MAX_WAYS];
	double shares[MAX_WAYS];
};

static uint32_t seed = 1;

static uint32_t next_random(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void add(struct graph *g, uint32_t from, uint32_t to, double share)
{
	g->ways[g->n_ways] = (struct flow_chain_way){ from, to };
	g->shares[g->n_ways++] = share;
}

/* Each block leads on to the next, the last one outside, and somewhere else. */
static struct graph random_graph(void)
{
	struct graph g = { .n_blocks = 1 + next_random(MAX_BLOCKS) };

	add(&g, g.n_blocks, 0, 1);
	for (uint32_t i = 0; i < g.n_blocks; i++) {
		double share = 0.05 + next_random(900) / 1000.0;

		add(&g, i, i + 1, share);
		add(&g, i, next_random(g.n_blocks + 1), (1 - share) / 3);
		add(&g, i, next_random(g.n_blocks + 1), (1 - share) / 3 * 2);
	}
	return g;
}

/* Round after round, until all has gone outside. */
static void flow_slowly(const struct graph *g, const double *begin, double *ret)
{
	double now[MAX_BLOCKS + 1], next[MAX_BLOCKS + 1];

	for (uint32_t i = 0; i <= g->n_blocks; i++) {
		now[i] = begin[i];
		ret[i] = 0;
	}
	for (int round = 0; round < 20000; round++) {
		for (uint32_t i = 0; i <= g->n_blocks; i++)
			next[i] = 0;
		for (size_t i = 0; i < g->n_ways; i++)
			if (g->ways[i].from < g->n_blocks)
				next[g->ways[i].to] +=
					now[g->ways[i].from] * g->shares[i];
		for (uint32_t i = 0; i < g->n_blocks; i++) {
			ret[i] += now[i];
			now[i] = next[i];
		}
	}
}

static void flows_are_those_of_going_round_and_round(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++) {
		struct graph g = random_graph();
		own(flow_chain_freep) struct flow_chain *c =
			flow_chain_new(g.n_blocks, g.ways, g.n_ways);
		double begin[MAX_BLOCKS + 1] = { 1 }, want[MAX_BLOCKS + 1];
		double flows[MAX_BLOCKS + 1], pushed[MAX_BLOCKS + 1];

		assert_non_null(c);
		assert_true(flow_chain_load(c, g.shares));
		flow_slowly(&g, begin, want);
		flow_chain_flows(c, flows);
		flow_chain_push(c, begin, pushed);
		for (uint32_t k = 0; k < g.n_blocks; k++) {
			assert_true(fabs(flows[k] - want[k]) < 1e-6 * want[k] + 1e-12);
			assert_true(fabs(pushed[k] - want[k]) < 1e-6 * want[k] + 1e-12);
		}
	}
}

static void what_is_pulled_is_worth_what_is_pushed(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++) {
		struct graph g = random_graph();
		own(flow_chain_freep) struct flow_chain *c =
			flow_chain_new(g.n_blocks, g.ways, g.n_ways);
		double more[MAX_BLOCKS], worth[MAX_BLOCKS], pushed[MAX_BLOCKS],
			pulled[MAX_BLOCKS], a = 0, b = 0;

		assert_true(c && flow_chain_load(c, g.shares));
		for (uint32_t k = 0; k < g.n_blocks; k++) {
			more[k] = next_random(100) - 50.0;
			worth[k] = next_random(100) - 50.0;
		}
		flow_chain_push(c, more, pushed);
		flow_chain_pull(c, worth, pulled);
		for (uint32_t k = 0; k < g.n_blocks; k++) {
			a += pushed[k] * worth[k];
			b += more[k] * pulled[k];
		}
		assert_true(fabs(a - b) < 1e-8 * (fabs(a) + fabs(b) + 1));
	}
}

/* A loop of which next to nothing ever leaves, in another one. */
static void long_loops_lose_no_digits(void **state)
{
	struct graph g = { .n_blocks = 2 };
	own(flow_chain_freep) struct flow_chain *c = NULL;
	double flows[2];

	(void)state;
	add(&g, 2, 0, 1);
	add(&g, 0, 1, 1);
	add(&g, 1, 1, 1 - 1e-15);
	add(&g, 1, 0, 1e-15);
	add(&g, 1, 2, 1e-15 * 1e-15);
	c = flow_chain_new(2, g.ways, g.n_ways);
	assert_true(c && flow_chain_load(c, g.shares));
	flow_chain_flows(c, flows);
	assert_true(fabs(flows[1] / 1e30 - 1) < 1e-9);
	assert_true(fabs(flows[0] / 1e15 - 1) < 1e-9);
}

static void what_takes_too_much_work_is_refused(void **state)
{
	enum { N = 3000 };
	own(freep) struct flow_chain_way *ways = calloc(20 * N, sizeof(*ways));
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		for (int k = 0; k < 20; k++)
			ways[n++] = (struct flow_chain_way){ i, next_random(N + 1) };
	assert_null(flow_chain_new(N, ways, n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_are_those_of_going_round_and_round),
		cmocka_unit_test(what_is_pulled_is_worth_what_is_pushed),
		cmocka_unit_test(long_loops_lose_no_digits),
		cmocka_unit_test(what_takes_too_much_work_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
