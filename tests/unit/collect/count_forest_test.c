/* SPDX-License-Identifier: Apache-2.0
 * Walks go at random through parts; what is not counted of them has to be told. */
#include "collect/count_forest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

#define N_PARTS 300u
#define N_WAYS	700u
#define N_STEPS 400u

struct way {
	uint32_t from, to;
	bool is_counted;
	uint64_t n, truth;
};

static struct way ways[N_WAYS];

static void take_way(void *ctx, uint32_t user, int64_t n)
{
	size_t *n_told = ctx;

	assert_false(ways[user].is_counted);
	assert_int_equal(ways[user].n, 0);
	ways[user].n = (uint64_t)n;
	++*n_told;
}

/* From outside until it is there again. */
static void walk(size_t n_ways)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < N_STEPS || at; i++) {
		size_t k = (size_t)rand() % n_ways;

		while (ways[k].from != at)
			k = (k + 1) % n_ways;
		ways[k].truth++;
		at = ways[k].to;
	}
}

/* Of each part a way leads back to where it was come from. */
static size_t grow(struct count_forest *f, size_t n_ways)
{
	uint32_t part = count_forest_add(f), from = (uint32_t)rand() % part;
	const uint32_t ends[][2] = { { part, from },
				     { from, part },
				     { part, (uint32_t)rand() % (part + 1) } };
	size_t n = 2 + (size_t)rand() % 2, first = (size_t)rand() % n;

	for (size_t i = 0; i < n; i++, n_ways++) {
		const uint32_t *way = ends[(first + i) % n];

		ways[n_ways] = (struct way){ .from = way[0], .to = way[1] };
		ways[n_ways].is_counted =
			!count_forest_join(f, way[0], way[1], (uint32_t)n_ways);
	}
	return n_ways;
}

static void check(struct count_forest *f, size_t n_ways)
{
	size_t n_told = 0;

	for (size_t i = 0; i < n_ways; i++) {
		ways[i].n = ways[i].truth * ways[i].is_counted;
		if (ways[i].n)
			count_forest_flow(f, ways[i].from, ways[i].to, ways[i].n);
	}
	assert_int_equal(count_forest_tell(f, take_way, &n_told), 0);
	for (size_t i = 0; i < n_ways; i++) {
		assert_int_equal(ways[i].n, ways[i].truth);
		n_told -= !ways[i].is_counted && ways[i].truth;
		ways[i].truth = 0;
	}
	assert_int_equal(n_told, 0);
}

static void what_is_not_counted_is_told_while_trees_grow(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 30; seed++) {
		struct count_forest f;
		size_t n_ways = 0;

		srand(seed);
		count_forest_init(&f);
		while (f.parts.n < N_PARTS - 1 && n_ways < N_WAYS - 3) {
			n_ways = grow(&f, n_ways);
			if (f.parts.n % 50 == 0) {
				check(&f, n_ways);
				walk(n_ways);
				check(&f, n_ways);
			}
		}
		count_forest_fini(&f);
	}
}

static void nothing(void *ctx, uint32_t user, int64_t n)
{
	(void)user;
	(void)n;
	++*(size_t *)ctx;
}

static void trees_that_join_from_any_side_tell_each_way(void **state)
{
	enum { N = 64 };

	(void)state;
	for (unsigned seed = 1; seed <= 30; seed++) {
		struct count_forest f;
		size_t n_told = 0;

		srand(seed);
		count_forest_init(&f);
		for (unsigned i = 1; i <= N; i++)
			assert_int_equal(count_forest_add(&f), i);
		/* a line of all, joined in any order, and by ways in any direction */
		for (unsigned n = 0; n < N - 1;) {
			uint32_t i = 1 + (uint32_t)rand() % (N - 1);

			n += rand() % 2 ? count_forest_join(&f, i, i + 1, i)
					: count_forest_join(&f, i + 1, i, i);
		}
		assert_false(count_forest_join(&f, N, 1, 0));
		count_forest_flow(&f, 0, 1, 5);
		count_forest_flow(&f, N, 0, 5);
		assert_int_equal(count_forest_tell(&f, nothing, &n_told), 0);
		assert_int_equal(n_told, N - 1);
		count_forest_fini(&f);
	}
}

static void what_comes_from_nowhere_is_told_and_forgotten(void **state)
{
	struct count_forest f;
	size_t n_told = 0;

	(void)state;
	count_forest_init(&f);
	count_forest_add(&f);
	count_forest_add(&f);
	assert_true(count_forest_join(&f, 1, 2, 0));
	count_forest_flow(&f, 0, 1, 7);
	assert_int_equal(count_forest_tell(&f, nothing, &n_told), 7);
	n_told = 0;
	assert_int_equal(count_forest_tell(&f, nothing, &n_told), 0);
	assert_int_equal(n_told, 0);
	count_forest_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_counted_is_told_while_trees_grow),
		cmocka_unit_test(trees_that_join_from_any_side_tell_each_way),
		cmocka_unit_test(what_comes_from_nowhere_is_told_and_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
