/* SPDX-License-Identifier: Apache-2.0 */
#include "export/flame_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "table_profile.h"

static struct flame_tree *make_tree(size_t first, size_t n, double share)
{
	own(profile_freep) struct profile *p = table_profile_load(&table_profile_example);

	return flame_tree_new(p, first, n, share);
}

static uint64_t sum_of(const struct flame_tree *t, size_t column)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nodes.n; i++)
		sum += t->self.at[i * t->n_columns + column];
	return sum;
}

static void nothing_is_lost_at_any_share(unused void **state)
{
	for (size_t i = 0; i < flame_tree_n_shares; i++) {
		own(flame_tree_freep) struct flame_tree *t =
			make_tree(0, 2, flame_tree_shares[i]);

		assert_int_equal(sum_of(t, 0), 37000001);
		assert_int_equal(sum_of(t, 1), 7);
	}
}

static void equal_contexts_are_one_node(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(0, 1, 0);

	/* root, main, work, step, work again, read, vfs_read, hostile, unresolved, and
	 * the sample without a stack. */
	assert_int_equal(t->nodes.n, 10);
	for (size_t i = 1; i < t->nodes.n; i++)
		assert_true(t->nodes.at[i].parent < i);
}

static void stacks_without_the_event_make_no_nodes(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(1, 1, 0);

	assert_int_equal(t->nodes.n, 4); /* root, main, read, vfs_read */
}

static void what_is_small_is_merged_where_it_belongs(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(0, 1, 0.1);
	size_t n_small = 0;

	for (size_t i = 0; i < t->nodes.n; i++) {
		uint32_t frame = t->nodes.at[i].frame;

		if (t->frames.at[frame].function != FLAME_TREE_SMALL)
			continue;
		n_small++;
		/* Unresolved; read is kept as it has all the faults. */
		assert_int_equal(t->self.at[i], 1000000);
		assert_int_equal(
			t->frames.at[t->nodes.at[t->nodes.at[i].parent].frame].function,
			0);
	}
	assert_int_equal(n_small, 1);
	assert_true(t->share == 0.1);
}

static void a_tree_with_nothing_small_in_it_says_so(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(0, 1, 0.01);

	assert_int_equal(t->nodes.n, 10);
	assert_true(t->share == 0);
}

static void a_tree_has_no_more_nodes_than_there_is_room_for(unused void **state)
{
	own(profile_freep) struct profile *p = table_profile_load(&table_profile_example);
	own(flame_tree_freep) struct flame_tree *all = flame_tree_fit(p, 0, 1, 10);
	own(flame_tree_freep) struct flame_tree *least = flame_tree_fit(p, 0, 1, 1);

	assert_int_equal(all->nodes.n, 10);
	assert_int_equal(least->nodes.n, 10); /* the coarsest there is */
}

static void a_walk_visits_each_node_after_its_parent_and_within_it(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(0, 1, 0);
	own(freep) uint32_t *order = xcalloc(t->nodes.n, sizeof(*order));
	own(freep) uint32_t *depth = xcalloc(t->nodes.n, sizeof(*depth));
	uint32_t path[TABLE_FRAMES_MAX + 1];

	flame_tree_walk(t, order, depth);
	assert_int_equal(order[0], 0);
	for (size_t i = 0; i < t->nodes.n; i++) {
		path[depth[i]] = order[i];
		if (i)
			assert_int_equal(t->nodes.at[order[i]].parent,
					 path[depth[i] - 1]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_at_any_share),
		cmocka_unit_test(equal_contexts_are_one_node),
		cmocka_unit_test(stacks_without_the_event_make_no_nodes),
		cmocka_unit_test(what_is_small_is_merged_where_it_belongs),
		cmocka_unit_test(a_tree_with_nothing_small_in_it_says_so),
		cmocka_unit_test(a_tree_has_no_more_nodes_than_there_is_room_for),
		cmocka_unit_test(a_walk_visits_each_node_after_its_parent_and_within_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
