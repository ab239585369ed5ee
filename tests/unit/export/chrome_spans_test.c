/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

static void add(struct chrome_spans *s, uint64_t from_ns, uint64_t to_ns, uint32_t stack,
		enum chrome_span_rank rank)
{
	chrome_spans_add(s, &(struct chrome_span){ .from_ns = from_ns,
						   .to_ns = to_ns,
						   .gap_ns = to_ns - from_ns,
						   .stack = stack,
						   .rank = rank });
}

struct piece {
	uint64_t from_ns, to_ns;
	uint32_t stack;
};

static void check(struct chrome_spans *s, const struct piece *want, size_t n)
{
	chrome_spans_lay(s);
	assert_int_equal(s->pieces.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(s->pieces.at[i].from_ns, want[i].from_ns);
		assert_int_equal(s->pieces.at[i].to_ns, want[i].to_ns);
		assert_int_equal(s->pieces.at[i].stack, want[i].stack);
	}
}

static void samples_are_cut_by_those_before(void **state)
{
	own(chrome_spans_fini) struct chrome_spans s = { 0 };
	static const struct piece want[] = { { 0, 50, 1 }, { 50, 60, 2 } };

	(void)state;
	add(&s, 50, 60, 3, CHROME_SPAN_SAMPLE); /* no time is left */
	add(&s, 20, 60, 2, CHROME_SPAN_SAMPLE);
	add(&s, 0, 50, 1, CHROME_SPAN_SAMPLE);
	add(&s, 7, 7, 4, CHROME_SPAN_SAMPLE);
	check(&s, want, 2);
}

static void what_is_exact_cuts_what_was_sampled(void **state)
{
	own(chrome_spans_fini) struct chrome_spans s = { 0 };
	static const struct piece want[] = {
		{ 0, 10, 1 },  { 10, 20, 8 }, { 20, 30, 1 },
		{ 30, 45, 9 }, { 45, 50, 2 }, { 60, 70, 8 }
	};

	(void)state;
	add(&s, 0, 40, 1, CHROME_SPAN_SAMPLE);
	add(&s, 40, 50, 2, CHROME_SPAN_SAMPLE);
	add(&s, 62, 68, 3, CHROME_SPAN_SAMPLE); /* all of it */
	add(&s, 30, 45, 9, CHROME_SPAN_EACH);
	add(&s, 60, 70, 8, CHROME_SPAN_EACH);
	add(&s, 10, 20, 8, CHROME_SPAN_EACH);
	check(&s, want, 6);
	assert_int_equal(s.pieces.at[2].gap_ns, 40);
}

static void of_exact_ones_the_inner_one_counts(void **state)
{
	own(chrome_spans_fini) struct chrome_spans s = { 0 };
	static const struct piece want[] = { { 0, 10, 1 },   { 10, 20, 2 },
					     { 20, 30, 1 },  { 30, 31, 3 },
					     { 31, 35, 4 },  { 35, 40, 3 },
					     { 40, 100, 1 }, { 200, 205, 5 } };

	(void)state;
	add(&s, 31, 35, 4, CHROME_SPAN_EACH);
	add(&s, 30, 40, 3, CHROME_SPAN_EACH);
	add(&s, 10, 20, 2, CHROME_SPAN_EACH);
	add(&s, 0, 100, 1, CHROME_SPAN_EACH);
	add(&s, 200, 205, 5, CHROME_SPAN_EACH);
	check(&s, want, 8);
}

/* Clocks of two who tell may differ. */
static void exact_ones_that_cross_give_way_to_the_later(void **state)
{
	own(chrome_spans_fini) struct chrome_spans s = { 0 };
	static const struct piece want[] = { { 0, 5, 1 }, { 5, 15, 2 }, { 15, 18, 3 } };

	(void)state;
	add(&s, 0, 10, 1, CHROME_SPAN_EACH);
	add(&s, 5, 15, 2, CHROME_SPAN_EACH);
	add(&s, 15, 18, 3, CHROME_SPAN_EACH);
	check(&s, want, 3);
	chrome_spans_clear(&s);
	check(&s, want, 0);
}

static void waits_come_before_samples_and_behind_what_they_are_for(void **state)
{
	own(chrome_spans_fini) struct chrome_spans s = { 0 };
	static const struct piece want[] = {
		{ 0, 20, 1 }, { 20, 45, 2 }, { 45, 60, 9 }, { 60, 62, 2 }, { 62, 70, 3 },
	};

	(void)state;
	add(&s, 0, 25, 1, CHROME_SPAN_SAMPLE);
	add(&s, 40, 70, 3, CHROME_SPAN_SAMPLE);
	add(&s, 20, 50, 2, CHROME_SPAN_WAIT);
	add(&s, 50, 62, 2, CHROME_SPAN_WAIT);
	add(&s, 45, 60, 9, CHROME_SPAN_EACH);
	check(&s, want, 5);
}

/* Whatever there is, pieces are in order and apart, each moment is told of by one that
 * was there, and all that is exact is told. */
static void any_spans_are_laid_out(void **state)
{
	own(chrome_spans_fini) struct chrome_spans s = { 0 };
	enum { END = 60, ROUNDS = 2000 };

	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		int best[END], told[END];

		memset(best, -1, sizeof(best));
		memset(told, -1, sizeof(told));
		chrome_spans_clear(&s);
		for (uint32_t i = 0; i < 8; i++) {
			uint64_t from = (uint64_t)rand() % END;
			uint64_t to = from + (uint64_t)rand() % (END - from);
			int rank = rand() % (CHROME_SPAN_EACH + 1);

			add(&s, from, to, (uint32_t)rank, (enum chrome_span_rank)rank);
			for (uint64_t t = from; t < to; t++)
				best[t] = rank > best[t] ? rank : best[t];
		}
		chrome_spans_lay(&s);
		for (size_t i = 0; i < s.pieces.n; i++) {
			const struct chrome_span *x = &s.pieces.at[i];

			assert_true(x->from_ns < x->to_ns && x->to_ns <= END);
			assert_true(!i || x[-1].to_ns <= x->from_ns);
			for (uint64_t t = x->from_ns; t < x->to_ns; t++)
				told[t] = (int)x->stack;
		}
		for (int t = 0; t < END; t++)
			assert_true(best[t] == CHROME_SPAN_EACH
					    ? told[t] == CHROME_SPAN_EACH
					    : told[t] <= best[t]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_cut_by_those_before),
		cmocka_unit_test(what_is_exact_cuts_what_was_sampled),
		cmocka_unit_test(of_exact_ones_the_inner_one_counts),
		cmocka_unit_test(exact_ones_that_cross_give_way_to_the_later),
		cmocka_unit_test(waits_come_before_samples_and_behind_what_they_are_for),
		cmocka_unit_test(any_spans_are_laid_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
