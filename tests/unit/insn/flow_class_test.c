/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/flow_class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

#define MAX_BLOCKS 8
#define MAX_WAYS   20
#define OUT	   FLOW_CLASS_OUTSIDE

struct graph {
	uint32_t n_blocks, n_ways;
	uint8_t open[MAX_BLOCKS];
	struct flow_class_way ways[MAX_WAYS];
};

static uint32_t seed = 1;

static uint32_t next_random(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static uint32_t random_place(const struct graph *g)
{
	uint32_t i = next_random(g->n_blocks + 1);

	return i == g->n_blocks ? OUT : i;
}

static struct graph random_graph(void)
{
	struct graph g = { .n_blocks = 1 + next_random(MAX_BLOCKS) };

	g.n_ways = 1 + next_random(MAX_WAYS - 1);
	g.ways[0] = (struct flow_class_way){ OUT, 0 };
	for (uint32_t i = 1; i < g.n_ways; i++)
		g.ways[i] = (struct flow_class_way){ random_place(&g), random_place(&g) };
	return g;
}

/* The class of block i, of what is outside, or of the way behind these. */
static uint32_t class_of(const struct graph *g, const struct flow_class *c, uint32_t i)
{
	if (i < g->n_blocks)
		return c->of_block[i];
	return i == g->n_blocks ? c->of_outside : c->of_way[i - g->n_blocks - 1];
}

static uint32_t block_of(const struct graph *g, uint32_t place)
{
	return place == OUT ? g->n_blocks : place;
}

/* The ends of the edge that stands for block or way i, each block being two nodes. */
static void ends_of(const struct graph *g, uint32_t i, uint32_t *from, uint32_t *to)
{
	if (i <= g->n_blocks) {
		*from = 2 * i;
		*to = 2 * i + 1;
		return;
	}
	*from = 2 * block_of(g, g->ways[i - g->n_blocks - 1].from) + 1;
	*to = 2 * block_of(g, g->ways[i - g->n_blocks - 1].to);
}

/* Whether all nodes hang together without two of the edges. */
static bool is_connected(const struct graph *g, uint32_t without, uint32_t and_without)
{
	uint32_t n_edges = g->n_blocks + 1 + g->n_ways, reached = 1, before = 0;

	while (reached != before) {
		before = reached;
		for (uint32_t i = 0; i < n_edges; i++) {
			uint32_t from, to;

			ends_of(g, i, &from, &to);
			if (i != without && i != and_without &&
			    ((reached >> from | reached >> to) & 1))
				reached |= 1u << from | 1u << to;
		}
	}
	return reached == (1u << (2 * g->n_blocks + 2)) - 1;
}

/* Whether ways lead from outside to every block, and from there back. */
static bool is_closed(const struct graph *g)
{
	uint32_t to = 1u << g->n_blocks, from = to;

	for (uint32_t k = 0; k <= g->n_blocks; k++)
		for (uint32_t i = 0; i < g->n_ways; i++) {
			uint32_t a = block_of(g, g->ways[i].from);
			uint32_t b = block_of(g, g->ways[i].to);

			to |= (to >> a & 1) << b;
			from |= (from >> b & 1) << a;
		}
	return (to & from) == (2u << g->n_blocks) - 1;
}

static struct flow_class classes_of(const struct graph *g)
{
	struct flow_class c;

	flow_class_make(&c, g->n_blocks, g->open, g->ways, g->n_ways);
	return c;
}

static void two_are_in_a_class_if_the_graph_falls_apart_without_both(void **state)
{
	uint32_t n_tried = 0;

	(void)state;
	while (n_tried < 3000) {
		struct graph g = random_graph();
		uint32_t n = g.n_blocks + 1 + g.n_ways;

		if (!is_closed(&g))
			continue;

		own(flow_class_finip) struct flow_class c = classes_of(&g);

		n_tried++;
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < i; k++)
				assert_int_equal(class_of(&g, &c, i) ==
							 class_of(&g, &c, k),
						 !is_connected(&g, i, k));
	}
}

struct counts {
	uint32_t of[MAX_BLOCKS + 1 + MAX_WAYS]; /* as class_of() */
};

/* Anywhere that unknown ways may lead. */
static uint32_t any_open(const struct graph *g)
{
	uint32_t first = next_random(g->n_blocks);

	for (uint32_t i = 0; i < g->n_blocks; i++)
		if (g->open[(first + i) % g->n_blocks] & FLOW_CLASS_OPEN_IN)
			return (first + i) % g->n_blocks;
	return OUT;
}

/* Goes one way out of the place; false: there is none. */
static bool go_on(const struct graph *g, uint32_t *place, struct counts *c)
{
	uint32_t first = next_random(g->n_ways), i;
	bool is_open = *place == OUT || (g->open[*place] & FLOW_CLASS_OPEN_OUT);

	if (is_open && !next_random(4)) { /* also from inside to inside */
		*place = next_random(2) && *place != OUT ? OUT : any_open(g);
		return true;
	}
	for (uint32_t k = 0; k < g->n_ways; k++) {
		i = (first + k) % g->n_ways;
		if (g->ways[i].from != *place)
			continue;
		c->of[g->n_blocks + 1 + i]++;
		*place = g->ways[i].to;
		return true;
	}
	if (is_open)
		*place = OUT;
	return is_open;
}

/* False: it came to where nothing leads out. */
static bool walk(const struct graph *g, struct counts *c)
{
	uint32_t place = OUT;

	for (uint32_t step = 0; step < 200 || place != OUT; step++) {
		if (step > 5000 || !go_on(g, &place, c))
			return false;
		if (place != OUT)
			c->of[place]++;
	}
	return true;
}

static void what_is_in_a_class_is_executed_equally_often(void **state)
{
	uint32_t n_tried = 0, n_equal = 0;

	(void)state;
	while (n_tried < 2000) {
		struct graph g = random_graph();
		struct counts counts = { 0 };

		for (uint32_t i = 0; i < g.n_blocks; i++)
			g.open[i] = next_random(3) ? 0 : (uint8_t)next_random(4);
		if (!walk(&g, &counts))
			continue;

		own(flow_class_finip) struct flow_class c = classes_of(&g);
		uint32_t n = g.n_blocks + 1 + g.n_ways;

		n_tried++;
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < i; k++)
				if (i != g.n_blocks && k != g.n_blocks &&
				    class_of(&g, &c, i) == class_of(&g, &c, k)) {
					assert_int_equal(counts.of[i], counts.of[k]);
					n_equal++;
				}
	}
	assert_true(n_equal > 1000);
}

static void both_ends_of_a_diamond_are_in_one_class(void **state)
{
	static const struct flow_class_way ways[] = {
		{ OUT, 0 }, { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 }, { 3, OUT },
	};
	own(flow_class_finip) struct flow_class c = { 0 };

	(void)state;
	flow_class_make(&c, 4, NULL, ways, 6);
	assert_int_equal(c.n_classes, 3);
	assert_int_equal(c.of_block[0], 0);
	assert_int_equal(c.of_block[3], 0);
	assert_int_equal(c.of_outside, 0);
	assert_int_equal(c.of_way[1], c.of_block[1]);
	assert_int_equal(c.of_way[4], c.of_block[2]);
	assert_int_not_equal(c.of_block[1], c.of_block[2]);
}

static void unknown_ways_set_a_block_apart(void **state)
{
	static const struct flow_class_way ways[] = {
		{ OUT, 0 },
		{ 0, 1 },
		{ 1, 2 },
		{ 2, OUT },
	};
	static const uint8_t in[] = { 0, FLOW_CLASS_OPEN_IN, 0 };
	static const uint8_t out[] = { 0, FLOW_CLASS_OPEN_OUT, 0 };
	own(flow_class_finip) struct flow_class c = { 0 };

	(void)state;
	flow_class_make(&c, 3, in, ways, 4);
	assert_int_not_equal(c.of_block[0], c.of_block[1]);
	assert_int_equal(c.of_block[1], c.of_block[2]);
	flow_class_fini(&c);
	flow_class_make(&c, 3, out, ways, 4);
	assert_int_equal(c.of_block[0], c.of_block[1]);
	assert_int_not_equal(c.of_block[1], c.of_block[2]);
}

static void a_loop_without_end_is_not_what_leads_to_it(void **state)
{
	static const struct flow_class_way ways[] = { { OUT, 0 }, { 0, 1 }, { 1, 1 } };
	own(flow_class_finip) struct flow_class c = { 0 };

	(void)state;
	flow_class_make(&c, 2, NULL, ways, 3);
	assert_int_not_equal(c.of_block[0], c.of_block[1]);
}

static void a_long_row_of_blocks_is_one_class(void **state)
{
	enum { N = 300000 };
	own(freep) struct flow_class_way *ways = calloc(N + 1, sizeof(*ways));
	own(flow_class_finip) struct flow_class c = { 0 };

	(void)state;
	for (uint32_t i = 0; i <= N; i++)
		ways[i] = (struct flow_class_way){ i ? i - 1 : OUT, i < N ? i : OUT };
	flow_class_make(&c, N, NULL, ways, N + 1);
	assert_int_equal(c.n_classes, 1);
}

static void nothing_at_all_has_the_class_of_what_is_outside(void **state)
{
	own(flow_class_finip) struct flow_class c = { 0 };

	(void)state;
	flow_class_make(&c, 0, NULL, NULL, 0);
	assert_int_equal(c.n_classes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			two_are_in_a_class_if_the_graph_falls_apart_without_both),
		cmocka_unit_test(what_is_in_a_class_is_executed_equally_often),
		cmocka_unit_test(both_ends_of_a_diamond_are_in_one_class),
		cmocka_unit_test(unknown_ways_set_a_block_apart),
		cmocka_unit_test(a_loop_without_end_is_not_what_leads_to_it),
		cmocka_unit_test(a_long_row_of_blocks_is_one_class),
		cmocka_unit_test(nothing_at_all_has_the_class_of_what_is_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
