/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/calltree.h"
#include "fixture.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* The tree as "main:320{B:200{…}…}"; "+n" are hidden children, "*n" folded levels. */
static void print_node(const struct profile *p, const struct calltree *t, uint32_t id,
		       struct buf *to)
{
	const struct calltree_node *n = &t->nodes[id];

	buf_printf(to, "%s:%llu",
		   n->function == MODEL_NONE ? "-" : p->functions.at[n->function].name,
		   (unsigned long long)t->inclusive[id]);
	if (t->exclusive[id])
		buf_printf(to, "/%llu", (unsigned long long)t->exclusive[id]);
	if (n->n_folded)
		buf_printf(to, "*%u", n->n_folded);
	if (!n->n_children && !n->n_hidden)
		return;
	buf_puts(to, "{");
	for (uint32_t i = 0; i < n->n_children; i++) {
		buf_puts(to, i ? " " : "");
		print_node(p, t, n->first_child + i, to);
	}
	if (n->n_hidden)
		buf_printf(to, "%s+%u:%llu", n->n_children ? " " : "", n->n_hidden,
			   (unsigned long long)t->hidden[id]);
	buf_puts(to, "}");
}

static void check_tree(const struct fixture_stack *stacks, size_t n,
		       const struct calltree_options *options, const char *focus,
		       const char *want)
{
	own(fixture_freep) struct profile *p = fixture_profile(stacks, n);
	own(calltree_fini) struct calltree t;
	own(buf_fini) struct buf got = { 0 };
	struct calltree_options o = *options;

	o.function = focus ? fixture_function(p, focus) : MODEL_NONE;
	calltree_build(&t, p, &o);
	print_node(p, &t, 0, &got);
	assert_string_equal(buf_str(&got), want);
}

static const struct fixture_stack example[] = {
	{ "main", 2 },
	{ "main;A;C", 10 },
	{ "main;B", 5 },
	{ "main;B;C", 15 },
};

static void going_down_children_are_callees(void **state unused)
{
	check_tree(example, N(example), &(struct calltree_options){ 0 }, NULL,
		   "-:32{main:32/2{B:20/5{C:15/15} A:10{C:10/10}}}");
}

static void going_up_children_are_callers(void **state unused)
{
	check_tree(example, N(example), &(struct calltree_options){ .bottom_up = true },
		   NULL,
		   "-:32{C:25{B:15{main:15/15} A:10{main:10/10}} B:5{main:5/5} "
		   "main:2/2}");
}

static void a_focus_keeps_only_stacks_through_the_function(void **state unused)
{
	check_tree(example, N(example), &(struct calltree_options){ 0 }, "B",
		   "B:20/5{C:15/15}");
	check_tree(example, N(example), &(struct calltree_options){ .bottom_up = true },
		   "C", "C:25{B:15{main:15/15} A:10{main:10/10}}");
}

static void what_is_too_light_or_too_deep_is_counted(void **state unused)
{
	check_tree(example, N(example), &(struct calltree_options){ .min_share = 0.4 },
		   NULL, "-:32{main:32/2{B:20/5{C:15/15} +1:10}}");
	check_tree(example, N(example), &(struct calltree_options){ .max_depth = 1 },
		   NULL, "-:32{main:32/2{+2:30}}");
}

static void direct_recursion_is_one_node(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "main;r;r;r", 5 },
						       { "main;r", 2 },
						       { "main;r;r;x", 3 } };

	check_tree(stacks, N(stacks), &(struct calltree_options){ 0 }, NULL,
		   "-:10{main:10{r:10/7*2{x:3/3}}}");
	check_tree(stacks, N(stacks), &(struct calltree_options){ 0 }, "r",
		   "r:10/7*2{x:3/3}");
	check_tree(stacks, N(stacks), &(struct calltree_options){ .bottom_up = true },
		   NULL, "-:10{r:7*2{main:7/7} x:3{r:3*1{main:3/3}}}");
}

static void recursion_can_be_kept_as_it_was(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "main;r;r;r", 5 },
						       { "main;r", 2 } };

	check_tree(stacks, N(stacks),
		   &(struct calltree_options){ .keep_recursion = true }, NULL,
		   "-:7{main:7{r:7/2{r:5{r:5/5}}}}");
}

static void mutual_recursion_keeps_its_levels(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "a;b;a;b", 4 }, { "a;b", 1 } };

	check_tree(stacks, N(stacks), &(struct calltree_options){ 0 }, NULL,
		   "-:5{a:5{b:5/1{a:4{b:4/4}}}}");
	/* From its outermost call, so that nothing is counted twice. */
	check_tree(stacks, N(stacks), &(struct calltree_options){ 0 }, "b",
		   "b:5/1{a:4{b:4/4}}");
}

static void inlined_frames_are_nodes_and_say_so(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "main;f+g", 4 } };
	own(fixture_freep) struct profile *p = fixture_profile(stacks, N(stacks));
	own(calltree_fini) struct calltree t;

	calltree_build(&t, p, &(struct calltree_options){ .function = MODEL_NONE });
	assert_int_equal(t.n_nodes, 4);
	assert_false(t.nodes[2].is_inlined);
	assert_true(t.nodes[3].is_inlined);
}

static void empty_stacks_are_the_roots_own(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "", 3 }, { "main", 4 } };

	check_tree(stacks, N(stacks), &(struct calltree_options){ 0 }, NULL,
		   "-:7/3{main:4/4}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(going_down_children_are_callees),
		cmocka_unit_test(going_up_children_are_callers),
		cmocka_unit_test(a_focus_keeps_only_stacks_through_the_function),
		cmocka_unit_test(what_is_too_light_or_too_deep_is_counted),
		cmocka_unit_test(direct_recursion_is_one_node),
		cmocka_unit_test(recursion_can_be_kept_as_it_was),
		cmocka_unit_test(mutual_recursion_keeps_its_levels),
		cmocka_unit_test(inlined_frames_are_nodes_and_say_so),
		cmocka_unit_test(empty_stacks_are_the_roots_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
