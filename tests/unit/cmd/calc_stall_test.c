/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calc_stall.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define N_STEPS 16

struct culprit {
	enum stall_cause cause;
	uint32_t blamed;
	double most;
	const char *event;
};

static struct stall stall_of(double low, double high, const struct culprit *culprits)
{
	struct stall s = { .cycles = low, .low = low, .high = high };

	for (; culprits[s.n].most; s.n++)
		s.culprits[s.n] =
			(struct stall_culprit){ .cause = (uint8_t)culprits[s.n].cause,
						.blamed = culprits[s.n].blamed,
						.most = culprits[s.n].most,
						.event = culprits[s.n].event };
	return s;
}

/* The bubble alone, each row's text on a line. */
static char *shown(const struct stall *s, uint32_t step)
{
	static const struct table_column columns[] = {
		{ "Number", TABLE_RIGHT, false, 0 },
		{ "Text", TABLE_LEFT, false, 0 },
	};
	struct code_step steps[N_STEPS] = { 0 };
	struct procedure p = { .steps = steps, .n_steps = N_STEPS };
	own(table_freep) struct table *t = table_new(columns, 2);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (unsigned i = 0; i < N_STEPS; i++)
		steps[i].address = 0x1000 + i;
	calc_stall_put(s, &p, step, t, 1);
	table_print(t, &(struct table_style){ .no_header = true }, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_shown(const struct stall *s, uint32_t step, const char *want)
{
	own(freep) char *text = shown(s, step);
	own(freep) char *lines = xcalloc(1, strlen(text) + 1);

	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		strncat(lines, line + strspn(line, " "),
			(size_t)(end - line) - strspn(line, " "));
	}
	assert_string_equal(lines, want);
}

static void no_stall_has_no_rows(void **state)
{
	struct stall s = { 0 };

	(void)state;
	assert_shown(&s, 3, "");
}

static void causes_that_differ_in_nothing_else_share_a_row(void **state)
{
	static const struct culprit t[] = {
		{ STALL_DCACHE, 3, -1, NULL },
		{ STALL_DTLB, 3, -1, NULL },
		{ STALL_FORWARD, 1, -1, NULL },
		{ 0, 0, 0, NULL },
	};
	struct stall s = stall_of(20, 20, t);

	(void)state;
	assert_shown(&s, 3,
		     "┌ stalls 20.0 cycles\n"
		     "├ D-cache or DTLB miss\n"
		     "└ store forwarding of 1001\n");
}

static void many_places_of_a_cause_share_one_that_names_the_likeliest(void **state)
{
	static const struct culprit t[] = {
		{ STALL_DCACHE, 3, -1, NULL },
		{ STALL_DCACHE, 9, 0.2, NULL },
		{ STALL_DCACHE, 10, 0.7, NULL },
		{ STALL_BRANCH, 5, 0.2, NULL },
		{ STALL_ICACHE, PROCEDURE_OUTSIDE, 1, NULL },
		{ STALL_DCACHE, 11, 0.1, NULL },
		{ STALL_BRANCH, 6, -1, NULL },
		{ STALL_BRANCH, PROCEDURE_OUTSIDE, 4, NULL },
		{ STALL_BRANCH, 8, 6, NULL },
		{ STALL_FORWARD, 1, 90, NULL },
		{ STALL_FORWARD, 2, -1, NULL },
		{ STALL_FORWARD, 4, 90, NULL },
		{ 0, 0, 0, NULL },
	};
	struct stall s = stall_of(10, 10, t);

	(void)state;
	assert_shown(&s, 3,
		     "┌ stalls 10.0 cycles\n"
		     "├ D-cache miss\n"
		     "├ D-cache miss of 100a, ≤ 0.7\n"
		     "│   and 2 more, ≤ 1.0 in all\n"
		     "├ mispredict of 1006\n"
		     "│   and 2 more\n"
		     "├ I-cache miss, ≤ 1.0\n"
		     "├ mispredict, ≤ 4.0\n"
		     "└ store forwarding of 1002\n"
		     "and 2 more\n");
}

/* Who is at one address with another is none the less one of many. */
static void one_of_many_shares_a_row_with_no_other_cause(void **state)
{
	static const struct culprit unbounded[] = {
		{ STALL_DCACHE, 4, -1, NULL }, { STALL_DTLB, 4, -1, NULL },
		{ STALL_BRANCH, 4, -1, NULL }, { STALL_BRANCH, 5, 1, NULL },
		{ STALL_BRANCH, 6, 2, NULL },  { 0, 0, 0, NULL },
	};
	static const struct culprit bounded[] = {
		{ STALL_DCACHE, 4, 2, NULL },
		{ STALL_DTLB, 4, 2, NULL },
		{ STALL_DTLB, 5, 1, NULL },
		{ STALL_DTLB, 6, 1.5, NULL },
		{ 0, 0, 0, NULL },
	};
	struct stall s = stall_of(10, 10, unbounded), t = stall_of(10, 10, bounded);

	(void)state;
	assert_shown(&s, 3,
		     "┌ stalls 10.0 cycles\n"
		     "├ D-cache or DTLB miss of 1004\n"
		     "└ mispredict of 1004\n"
		     "and 2 more\n");
	assert_shown(&t, 3,
		     "┌ stalls 10.0 cycles\n"
		     "├ D-cache miss of 1004, ≤ 2.0\n"
		     "└ DTLB miss of 1004, ≤ 2.0\n"
		     "and 2 more, ≤ 4.5 in all\n");
}

static void two_of_a_cause_have_a_row_each(void **state)
{
	static const struct culprit t[] = {
		{ STALL_BRANCH, 5, 0.2, NULL },
		{ STALL_BRANCH, 6, 0.7, NULL },
		{ 0, 0, 0, NULL },
	};
	struct stall s = stall_of(10, 10, t);

	(void)state;
	s.unexplained = 9.1;
	assert_shown(&s, PROCEDURE_OUTSIDE,
		     "┌ stalls 10.0 cycles on the way\n"
		     "├ mispredict of 1005, ≤ 0.2\n"
		     "├ mispredict of 1006, ≤ 0.7\n"
		     "└ unexplained, 9.1\n");
}

static void what_all_of_many_may_be_is_no_bound_beyond_the_stall(void **state)
{
	static const struct culprit t[] = {
		{ STALL_BRANCH, 5, 2, "branch-misses" },
		{ STALL_BRANCH, 3, 2, "branch-misses" },
		{ STALL_BRANCH, 6, 1.5, "branch-misses" },
		{ 0, 0, 0, NULL },
	};
	struct stall s = stall_of(1, 3, t);

	(void)state;
	assert_shown(&s, 3,
		     "┌ stalls 1–3 cycles\n"
		     "└ mispredict of 1005, ≤ 2.0 by branch-misses\n"
		     "and 2 more\n");
}

static void add_named(void *ctx, uint32_t step)
{
	strcat(ctx, (char[]){ (char)('a' + step), '\0' });
}

static void whoever_lists_instructions_is_told_which_are_named(void **state)
{
	static const struct culprit t[] = {
		{ STALL_DCACHE, 3, -1, NULL },
		{ STALL_DTLB, 3, -1, NULL },
		{ STALL_BRANCH, 5, 0.2, NULL },
		{ STALL_BRANCH, 6, -1, NULL },
		{ STALL_BRANCH, 8, 6, NULL },
		{ STALL_ICACHE, PROCEDURE_OUTSIDE, 1, NULL },
		{ STALL_FORWARD, 1, 90, NULL },
		{ 0, 0, 0, NULL },
	};
	struct code_step steps[N_STEPS] = { 0 };
	struct procedure p = { .steps = steps, .n_steps = N_STEPS };
	struct stall s = stall_of(10, 10, t), none = { 0 };
	char named[N_STEPS + 1] = "";

	(void)state;
	calc_stall_each_named(&s, &p, 3, add_named, named);
	assert_string_equal(named, "gb"); /* not the instruction itself */
	*named = '\0';
	calc_stall_each_named(&s, &p, PROCEDURE_OUTSIDE, add_named, named);
	assert_string_equal(named, "dgb");
	*named = '\0';
	calc_stall_each_named(&none, &p, 3, add_named, named);
	assert_string_equal(named, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_stall_has_no_rows),
		cmocka_unit_test(causes_that_differ_in_nothing_else_share_a_row),
		cmocka_unit_test(
			many_places_of_a_cause_share_one_that_names_the_likeliest),
		cmocka_unit_test(one_of_many_shares_a_row_with_no_other_cause),
		cmocka_unit_test(two_of_a_cause_have_a_row_each),
		cmocka_unit_test(what_all_of_many_may_be_is_no_bound_beyond_the_stall),
		cmocka_unit_test(whoever_lists_instructions_is_told_which_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
