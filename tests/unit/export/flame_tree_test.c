/* SPDX-License-Identifier: Apache-2.0 */
#include "export/flame_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "table_profile.h"

static struct flame_tree *make_tree(size_t first, size_t n)
{
	struct flame_tree *t = NULL;

	assert_int_equal(flame_tree_new(&table_profile_example, first, n, &t, NULL), 0);
	return t;
}

static void the_root_holds_everything(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(0, 2);
	own(freep) uint64_t *inclusive = flame_tree_inclusive(t);

	assert_int_equal(inclusive[0], 37000001);
	assert_int_equal(inclusive[1], 7);
}

static void equal_contexts_are_one_node(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(0, 1);

	/* root, main, work, step, work again, read, vfs_read, hostile, unresolved, and
	 * the sample without a stack. */
	assert_int_equal(t->nodes.n, 10);
	for (size_t i = 1; i < t->nodes.n; i++)
		assert_true(t->nodes.at[i].parent < i);
}

static void stacks_without_the_event_make_no_nodes(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(1, 1);

	assert_int_equal(t->nodes.n, 4); /* root, main, read, vfs_read */
}

static void what_is_pruned_keeps_its_weight(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(0, 1);
	own(freep) uint64_t *inclusive = flame_tree_inclusive(t);
	own(flame_tree_freep) struct flame_tree *small =
		flame_tree_prune(t, inclusive, 0.1);
	own(freep) uint64_t *kept = flame_tree_inclusive(small);
	size_t n_pruned = 0;
	uint64_t pruned = 0;

	assert_int_equal(kept[0], inclusive[0]);
	assert_int_equal(flame_tree_count(t, inclusive, 0.1), 6);
	for (size_t i = 0; i < small->nodes.n; i++) {
		uint32_t frame = small->nodes.at[i].frame;

		if (small->frames.at[frame].function == FLAME_TREE_PRUNED) {
			n_pruned++;
			pruned += small->self.at[i];
		}
	}
	/* Below main: read with vfs_read, and unresolved; below the root: no stack. */
	assert_int_equal(n_pruned, 2);
	assert_int_equal(pruned, 3000000);
}

static void pruning_nothing_changes_nothing(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(0, 2);
	own(freep) uint64_t *inclusive = flame_tree_inclusive(t);
	own(flame_tree_freep) struct flame_tree *same = flame_tree_prune(t, inclusive, 0);

	assert_int_equal(same->nodes.n, t->nodes.n);
	assert_memory_equal(same->self.at, t->self.at,
			    t->nodes.n * 2 * sizeof(*t->self.at));
}

static void a_walk_visits_each_node_after_its_parent_and_within_it(unused void **state)
{
	own(flame_tree_freep) struct flame_tree *t = make_tree(0, 1);
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
		cmocka_unit_test(the_root_holds_everything),
		cmocka_unit_test(equal_contexts_are_one_node),
		cmocka_unit_test(stacks_without_the_event_make_no_nodes),
		cmocka_unit_test(what_is_pruned_keeps_its_weight),
		cmocka_unit_test(pruning_nothing_changes_nothing),
		cmocka_unit_test(a_walk_visits_each_node_after_its_parent_and_within_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
