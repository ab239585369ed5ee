/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/metrics.h"
#include "base/mem.h"
#include "base/own.h"
#include "fixture.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void check_function(const struct profile *p, const struct metrics *m,
			   const char *name, uint64_t exclusive, uint64_t inclusive)
{
	uint32_t id = fixture_function(p, name);

	assert_int_equal(m->exclusive[id], exclusive);
	assert_int_equal(m->inclusive[id], inclusive);
}

static uint64_t edge(const struct metrics_edge *edges, size_t n, uint32_t function)
{
	for (size_t i = 0; i < n; i++)
		if (edges[i].function == function)
			return edges[i].values[0];
	return 0;
}

static uint64_t caller(const struct profile *p, const char *of, const char *name)
{
	struct metrics_butterfly b;
	uint32_t id =
		strcmp(name, "<total>") == 0 ? METRICS_TOTAL : fixture_function(p, name);

	metrics_attribute(&b, p, fixture_function(p, of));

	uint64_t v = edge(b.callers, b.n_callers, id);

	metrics_butterfly_fini(&b);
	return v;
}

static uint64_t callee(const struct profile *p, const char *of, const char *name)
{
	struct metrics_butterfly b;

	metrics_attribute(&b, p, fixture_function(p, of));

	uint64_t v = edge(b.callees, b.n_callees, fixture_function(p, name));

	metrics_butterfly_fini(&b);
	return v;
}

/* In tenths of a unit.  F does 3 units itself and 7 in G. */
static const struct fixture_stack example[] = {
	{ "main", 20 },		{ "main;A;C", 20 },	{ "main;A;C;E", 40 },
	{ "main;A;C;F", 12 },	{ "main;A;C;F;G", 28 }, { "main;B", 50 },
	{ "main;B;C", 30 },	{ "main;B;C;E", 60 },	{ "main;B;C;F", 18 },
	{ "main;B;C;F;G", 42 },
};

static void the_worked_example_has_its_metrics(void **state unused)
{
	own(fixture_freep) struct profile *p = fixture_profile(example, N(example));
	struct metrics m;

	metrics_sum(&m, p, NULL, 0);
	check_function(p, &m, "main", 20, 320);
	check_function(p, &m, "A", 0, 100);
	check_function(p, &m, "B", 50, 200);
	check_function(p, &m, "C", 50, 250);
	check_function(p, &m, "E", 100, 100);
	check_function(p, &m, "F", 30, 100);
	check_function(p, &m, "G", 70, 70);
	metrics_fini(&m);
}

static void the_worked_example_attributes_to_callers_and_callees(void **state unused)
{
	own(fixture_freep) struct profile *p = fixture_profile(example, N(example));

	assert_int_equal(caller(p, "C", "A"), 100);
	assert_int_equal(caller(p, "C", "B"), 150);
	assert_int_equal(callee(p, "C", "E"), 100);
	assert_int_equal(callee(p, "C", "F"), 100);
	assert_int_equal(callee(p, "main", "A"), 100);
	assert_int_equal(callee(p, "main", "B"), 200);
	assert_int_equal(caller(p, "main", "<total>"), 320);
}

static void recursion_counts_a_function_once(void **state unused)
{
	static const struct fixture_stack stacks[] = {
		{ "main;r;r;r", 5 },
		{ "main;r", 2 },
		{ "main;r;r;x;r", 3 },
		{ "main", 1 },
	};
	own(fixture_freep) struct profile *p = fixture_profile(stacks, N(stacks));
	struct metrics m;

	metrics_sum(&m, p, NULL, 0);
	check_function(p, &m, "r", 10, 10);
	check_function(p, &m, "x", 0, 3);
	check_function(p, &m, "main", 1, 11);
	metrics_fini(&m);
}

static void the_innermost_occurrence_decides_about_callers(void **state unused)
{
	static const struct fixture_stack stacks[] = {
		{ "main;r;r;r", 5 },
		{ "main;r", 2 },
		{ "main;r;r;x", 3 },
	};
	own(fixture_freep) struct profile *p = fixture_profile(stacks, N(stacks));

	assert_int_equal(caller(p, "r", "r"), 8);
	assert_int_equal(caller(p, "r", "main"), 2);
	/* The innermost r calls x or nothing: it is never its own callee. */
	assert_int_equal(callee(p, "r", "r"), 0);
	assert_int_equal(callee(p, "r", "x"), 3);
	/* The function that started it still sees the whole part below. */
	assert_int_equal(callee(p, "main", "r"), 10);
}

static void recursion_a_thousand_deep_gives_main_everything(void **state unused)
{
	own(freep) char *path = xcalloc(1, 5 + 1000 * 2 + 6);
	struct metrics m;

	strcpy(path, "main");
	for (int i = 0; i < 1000; i++)
		strcat(path, ";r");

	struct fixture_stack stacks[] = { { path, 7 }, { "main", 0 } };
	own(fixture_freep) struct profile *p = fixture_profile(stacks, 1);

	metrics_sum(&m, p, NULL, 0);
	check_function(p, &m, "main", 0, 7);
	check_function(p, &m, "r", 7, 7);
	assert_int_equal(caller(p, "r", "r"), 7);
	assert_int_equal(callee(p, "main", "r"), 7);
	metrics_fini(&m);
}

static void mutual_recursion_keeps_the_sums(void **state unused)
{
	static const struct fixture_stack stacks[] = {
		{ "main;a;b;a;b", 4 },
		{ "main;b;a", 6 },
		{ "main;a", 1 },
	};
	own(fixture_freep) struct profile *p = fixture_profile(stacks, N(stacks));
	struct metrics m;

	metrics_sum(&m, p, NULL, 0);
	check_function(p, &m, "a", 7, 11);
	check_function(p, &m, "b", 4, 10);
	assert_int_equal(callee(p, "a", "b"), 4);
	assert_int_equal(caller(p, "a", "b"), 10);
	assert_int_equal(caller(p, "a", "main"), 1);
	assert_int_equal(caller(p, "b", "a"), 4);
	assert_int_equal(callee(p, "b", "a"), 6);
	metrics_fini(&m);
}

static void inlined_frames_are_callers_and_callees_too(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "main;f+g+h", 4 },
						       { "main;f+g;k", 3 } };
	own(fixture_freep) struct profile *p = fixture_profile(stacks, N(stacks));
	struct metrics m;

	metrics_sum(&m, p, NULL, 0);
	check_function(p, &m, "h", 4, 4);
	check_function(p, &m, "g", 0, 7);
	check_function(p, &m, "f", 0, 7);
	assert_int_equal(caller(p, "g", "f"), 7);
	assert_int_equal(callee(p, "g", "k"), 3);
	metrics_fini(&m);
}

static void a_stack_without_frames_is_only_in_the_total(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "", 4 }, { "main", 3 } };
	own(fixture_freep) struct profile *p = fixture_profile(stacks, N(stacks));
	struct metrics m;

	metrics_sum(&m, p, NULL, 0);
	check_function(p, &m, "main", 3, 3);
	assert_int_equal(p->columns.at[0].total_weight, 7);
	metrics_fini(&m);
}

/* The oracle: what the definitions say, stack by stack, with nothing clever. */
#define MAX_DEPTH  10
#define N_STACKS   60
#define N_FUNCTION 6

struct random_stack {
	int depth, frames[MAX_DEPTH];
	uint64_t weight;
	char text[MAX_DEPTH * 2 + 1];
};

static void make_stack(struct random_stack *s)
{
	s->depth = 1 + rand() % MAX_DEPTH;
	s->weight = (uint64_t)(rand() % 100);
	for (int i = 0; i < s->depth; i++) {
		s->frames[i] = rand() % N_FUNCTION;
		s->text[2 * i] = (char)('a' + s->frames[i]);
		s->text[2 * i + 1] = ';';
	}
	s->text[2 * s->depth - 1] = '\0';
}

static void check_against_oracle(const struct profile *p, const struct metrics *m,
				 const struct random_stack *stacks, int f)
{
	uint64_t exclusive = 0, inclusive = 0, callers[N_FUNCTION + 1] = { 0 };
	uint64_t callees[N_FUNCTION] = { 0 }, sum = 0;
	char name[] = { (char)('a' + f), '\0' };
	struct metrics_butterfly b;

	for (int i = 0; i < N_STACKS; i++) {
		const struct random_stack *s = &stacks[i];
		int last = -1;

		for (int k = 0; k < s->depth; k++)
			if (s->frames[k] == f)
				last = k;
		if (last < 0)
			continue;
		inclusive += s->weight;
		callers[last ? s->frames[last - 1] : N_FUNCTION] += s->weight;
		if (last == s->depth - 1)
			exclusive += s->weight;
		else
			callees[s->frames[last + 1]] += s->weight;
	}
	if (!inclusive)
		return;
	check_function(p, m, name, exclusive, inclusive);
	metrics_attribute(&b, p, fixture_function(p, name));
	assert_int_equal(b.exclusive[0], exclusive);
	assert_int_equal(b.inclusive[0], inclusive);
	for (int g = 0; g < N_FUNCTION; g++) {
		char other[] = { (char)('a' + g), '\0' };

		if (callers[g])
			assert_int_equal(
				edge(b.callers, b.n_callers, fixture_function(p, other)),
				callers[g]);
		if (callees[g])
			assert_int_equal(
				edge(b.callees, b.n_callees, fixture_function(p, other)),
				callees[g]);
	}
	for (size_t i = 0; i < b.n_callers; i++)
		sum += b.callers[i].values[0];
	assert_int_equal(sum, inclusive);
	sum = exclusive;
	for (size_t i = 0; i < b.n_callees; i++)
		sum += b.callees[i].values[0];
	assert_int_equal(sum, inclusive);
	metrics_butterfly_fini(&b);
}

static void random_trees_agree_with_the_definitions(void **state unused)
{
	srand(1);
	for (int round = 0; round < 100; round++) {
		struct random_stack stacks[N_STACKS];
		struct fixture_stack fixture[N_STACKS];
		struct metrics m;

		for (int i = 0; i < N_STACKS; i++) {
			make_stack(&stacks[i]);
			fixture[i] = (struct fixture_stack){ stacks[i].text,
							     stacks[i].weight };
		}

		own(fixture_freep) struct profile *p = fixture_profile(fixture, N_STACKS);

		metrics_sum(&m, p, NULL, 0);
		for (int f = 0; f < N_FUNCTION; f++)
			check_against_oracle(p, &m, stacks, f);
		metrics_fini(&m);
	}
}

/* Every stack of LEVELS functions of N_NAMES, the first of weight 1, the next of 2 … */
static void more_stacks_than_one_thread_sums_keep_the_sums(void **state unused)
{
	enum { N_NAMES = 8, LEVELS = 4, N_ALL = 4096 };
	own(freep) struct fixture_stack *stacks = xcalloc(N_ALL, sizeof(*stacks));
	own(freep) char(*texts)[16] = xcalloc(N_ALL, sizeof(*texts));
	uint64_t exclusive[N_NAMES] = { 0 }, inclusive[N_NAMES] = { 0 };
	struct metrics m;

	for (unsigned i = 0; i < N_ALL; i++) {
		unsigned on_stack = 0;

		for (unsigned level = 0; level < LEVELS; level++) {
			unsigned name = i >> 3 * (LEVELS - 1 - level) & (N_NAMES - 1);

			texts[i][2 * level] = (char)('A' + name);
			texts[i][2 * level + 1] = level + 1 < LEVELS ? ';' : '\0';
			on_stack |= 1u << name;
		}
		stacks[i] = (struct fixture_stack){ texts[i], i + 1 };
		exclusive[i % N_NAMES] += i + 1;
		for (unsigned name = 0; name < N_NAMES; name++)
			inclusive[name] += on_stack & 1u << name ? i + 1 : 0;
	}

	own(fixture_freep) struct profile *p = fixture_profile(stacks, N_ALL);

	metrics_sum(&m, p, NULL, 0);
	for (unsigned name = 0; name < N_NAMES; name++)
		check_function(p, &m, (char[2]){ (char)('A' + name) }, exclusive[name],
			       inclusive[name]);
	metrics_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_example_has_its_metrics),
		cmocka_unit_test(the_worked_example_attributes_to_callers_and_callees),
		cmocka_unit_test(recursion_counts_a_function_once),
		cmocka_unit_test(the_innermost_occurrence_decides_about_callers),
		cmocka_unit_test(recursion_a_thousand_deep_gives_main_everything),
		cmocka_unit_test(mutual_recursion_keeps_the_sums),
		cmocka_unit_test(inlined_frames_are_callers_and_callees_too),
		cmocka_unit_test(a_stack_without_frames_is_only_in_the_total),
		cmocka_unit_test(random_trees_agree_with_the_definitions),
		cmocka_unit_test(more_stacks_than_one_thread_sums_keep_the_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
