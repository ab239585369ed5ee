/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/loop_nest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"
#include "insn/procedure.h"

#define MAX_BLOCKS 8
#define MAX_WAYS   24
#define NONE	   LOOP_NEST_NONE
#define OUT	   PROCEDURE_OUTSIDE

/* A procedure of which only blocks and ways are there. */
struct graph {
	struct procedure p;
	struct procedure_block blocks[MAX_BLOCKS];
	struct procedure_way ways[MAX_WAYS];
};

/* Ways come by where they are from. */
static void seal(struct graph *g)
{
	g->p.blocks = g->blocks;
	g->p.ways = g->ways;
	for (uint32_t i = g->p.n_ways; i--;) {
		g->blocks[g->ways[i].from].first_out = i;
		g->blocks[g->ways[i].from].n_out++;
	}
}

static uint32_t seed = 1;

static uint32_t next_random(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static int by_from(const void *a, const void *b)
{
	const struct procedure_way *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* All of it is reached from its entry, block 0. */
static struct graph random_graph(void)
{
	struct graph g = { .p.n_blocks = 1 + next_random(MAX_BLOCKS) };
	uint32_t n = g.p.n_blocks, n_more = next_random(n + 4);

	for (uint32_t i = 1; i < n; i++)
		g.ways[g.p.n_ways++] = (struct procedure_way){ next_random(i), i, 0 };
	for (uint32_t i = 0; i < n_more; i++)
		g.ways[g.p.n_ways++] =
			(struct procedure_way){ next_random(n), next_random(n), 0 };
	qsort(g.ways, g.p.n_ways, sizeof(*g.ways), by_from);
	return g;
}

/* Which blocks are come to from one, this one included, by ways that do not go through
 * another: bits. */
static uint32_t reach(const struct graph *g, uint32_t from, uint32_t without)
{
	uint32_t ret = from == without ? 0 : 1u << from, before;

	do {
		before = ret;
		for (uint32_t i = 0; i < g->p.n_ways; i++)
			if (ret >> g->ways[i].from & 1 && g->ways[i].to != without)
				ret |= 1u << g->ways[i].to;
	} while (ret != before);
	return ret;
}

static bool dominates(const struct graph *g, uint32_t a, uint32_t b)
{
	return !(reach(g, 0, a) >> b & 1);
}

/* By the book: a header dominates who leads back to it, and in its loop is who comes to
 * those without it. */
static void natural_loops(const struct graph *g, uint32_t *loops)
{
	memset(loops, 0, MAX_BLOCKS * sizeof(*loops));
	for (uint32_t i = 0; i < g->p.n_ways; i++) {
		uint32_t from = g->ways[i].from, to = g->ways[i].to;

		if (!dominates(g, to, from))
			continue;
		loops[to] |= 1u << to;
		for (uint32_t k = 0; k < g->p.n_blocks; k++)
			if (reach(g, k, to) >> from & 1)
				loops[to] |= 1u << k;
	}
}

/* Is each cycle broken by the ways back to who dominates? */
static bool is_reducible(const struct graph *g)
{
	struct graph rest = *g;

	rest.p.n_ways = 0;
	for (uint32_t i = 0; i < g->p.n_ways; i++)
		if (!dominates(g, g->ways[i].to, g->ways[i].from))
			rest.ways[rest.p.n_ways++] = g->ways[i];
	for (uint32_t i = 0; i < rest.p.n_ways; i++)
		if (reach(&rest, rest.ways[i].to, NONE) >> rest.ways[i].from & 1)
			return false;
	return true;
}

static bool is_in_cycle(const struct graph *g, uint32_t block)
{
	for (uint32_t i = 0; i < g->p.n_ways; i++)
		if (g->ways[i].from == block &&
		    reach(g, g->ways[i].to, NONE) >> block & 1)
			return true;
	return false;
}

/* The smallest of the loops that a block is in, but for one of which it is the header. */
static uint32_t innermost(const uint32_t *loops, uint32_t block, uint32_t but)
{
	uint32_t ret = NONE;

	for (uint32_t i = 0; i < MAX_BLOCKS; i++)
		if (i != but && loops[i] >> block & 1 &&
		    (ret == NONE ||
		     __builtin_popcount(loops[i]) < __builtin_popcount(loops[ret])))
			ret = i;
	return ret;
}

static void check_natural(const struct graph *g, const struct loop_nest *n)
{
	uint32_t loops[MAX_BLOCKS];

	natural_loops(g, loops);
	for (uint32_t i = 0; i < g->p.n_blocks; i++) {
		const struct loop_nest_block *b = &n->blocks[i];
		uint32_t depth = 0;

		for (uint32_t k = 0; k < g->p.n_blocks; k++)
			depth += loops[k] >> i & 1;
		assert_int_equal(b->is_header, loops[i] != 0);
		assert_int_equal(b->depth, depth);
		assert_int_equal(b->loop, innermost(loops, i, NONE));
		assert_int_equal(b->outer, b->is_header ? innermost(loops, i, i) : NONE);
		assert_false(b->is_entered_elsewhere);
	}
}

/* One of its loops has more than one begin, and whatever is executed again is in one. */
static void check_other(const struct graph *g, const struct loop_nest *n)
{
	bool is_noted = false;

	for (uint32_t i = 0; i < g->p.n_blocks; i++) {
		const struct loop_nest_block *b = &n->blocks[i];

		is_noted |= b->is_entered_elsewhere;
		assert_int_equal(b->depth > 0, is_in_cycle(g, i));
		assert_int_equal(b->loop != NONE, b->depth > 0);
		assert_true(!b->is_entered_elsewhere || b->is_header);
		assert_true(b->loop == NONE || n->blocks[b->loop].is_header);
	}
	assert_true(is_noted);
}

static void loops_are_those_of_the_book(void **state)
{
	uint32_t n_natural = 0, n_other = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct graph g = random_graph();
		own(loop_nest_fini) struct loop_nest n = { 0 };

		seal(&g);
		loop_nest_make(&n, &g.p);
		if (is_reducible(&g)) {
			check_natural(&g, &n);
			n_natural++;
		} else {
			check_other(&g, &n);
			n_other++;
		}
	}
	assert_true(n_natural > 5000 && n_other > 1000);
}

/* A loop of one block, and one of two that nothing known leads to. */
static void what_no_way_leads_to_has_loops_too(void **state)
{
	struct graph g = {
		.p = { .n_blocks = 3, .n_ways = 5, .entry = 0 },
		.blocks[1] = { .has_unknown_ways_in = true },
		.ways = { { 0, 0, 0 },
			  { 0, OUT, 0 },
			  { 1, 1, 0 },
			  { 1, 2, 0 },
			  { 2, 1, 0 } },
	};
	own(loop_nest_fini) struct loop_nest n = { 0 };

	(void)state;
	seal(&g);
	loop_nest_make(&n, &g.p);
	assert_int_equal(n.blocks[0].loop, 0);
	assert_int_equal(n.blocks[1].loop, 1);
	assert_int_equal(n.blocks[2].loop, 1);
	assert_int_equal(n.blocks[2].depth, 1);
	assert_false(n.blocks[1].is_entered_elsewhere);
}

/* As `for (…) try { f(); } catch (…) { n++; }` has it. */
static void a_handler_that_goes_on_in_a_loop_is_no_other_entry(void **state)
{
	struct graph g = {
		.p = { .n_blocks = 4, .n_ways = 5, .entry = 0 },
		.blocks[3] = { .has_unknown_ways_in = true },
		.ways = { { 0, 1, 0 },
			  { 1, 2, 0 },
			  { 2, 1, 0 },
			  { 2, OUT, 0 },
			  { 3, 2, 0 } },
	};
	own(loop_nest_fini) struct loop_nest n = { 0 };

	(void)state;
	seal(&g);
	loop_nest_make(&n, &g.p);
	assert_int_equal(n.blocks[2].loop, 1);
	assert_int_equal(n.blocks[3].depth, 0);
	assert_false(n.blocks[1].is_entered_elsewhere);
}

static void nothing_has_none(void **state)
{
	struct procedure p = { .entry = OUT };
	own(loop_nest_fini) struct loop_nest n = { 0 };

	(void)state;
	loop_nest_make(&n, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_are_those_of_the_book),
		cmocka_unit_test(what_no_way_leads_to_has_loops_too),
		cmocka_unit_test(a_handler_that_goes_on_in_a_loop_is_no_other_entry),
		cmocka_unit_test(nothing_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
