/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_gaps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/anchor_leaders.h"
#include "base/mem.h"
#include "base/own.h"

#define N	   12 /* gaps */
#define GAP_NS	   1e9
#define RATE	   1e-6 /* in a native nanosecond */
#define N_PROGRAMS 1000
#define N_MANY	   400000

/* Watched in all gaps but the first one, RATE in each. */
static void begin(struct anchor_gap *gaps)
{
	for (int i = 0; i < N; i++)
		gaps[i] = (struct anchor_gap){ .rate = i ? RATE : NAN,
					       .missed_ns = i ? 0 : GAP_NS,
					       .in_windows = RATE };
}

static void gaps_are_told_by_what_was_watched_in_them(void **state unused)
{
	struct anchor_leader_window windows[] = { { .hits = 0 },
						  { .hits = 1000, .watched_ns = 1e9 },
						  { .hits = 30, .watched_ns = 3e8 },
						  { .hits = 4000, .watched_ns = 2e9 } };
	struct anchor_window at[] = { { .before_ns = 2e9 },
				      { .before_ns = 1e9 },
				      { .before_ns = 1e9 },
				      { .before_ns = 2e9 } };
	struct anchor_leader l = { .windows = windows };
	struct anchor_rows rows = { .windows = { .at = at, .n = 4 }, .n_windows = 3 };
	own(freep) struct anchor_gap *gaps = anchor_gaps_find(&rows, &l);

	assert_true(isnan(gaps[0].rate) && isnan(gaps[2].rate));
	assert_float_equal(gaps[0].missed_ns, 2e9, 1);
	assert_float_equal(gaps[1].rate, 1e-6, 1e-12);
	assert_float_equal(gaps[1].missed_ns, 0, 1);
	assert_float_equal(gaps[2].missed_ns, 7e8, 1);
	assert_float_equal(gaps[3].rate, 2e-6, 1e-12);
}

/* Of two processes at once, in a time that is counted once. */
static void what_is_more_than_its_gap_was_in_earlier_ones(void **state unused)
{
	struct anchor_leader_window windows[] = { { .hits = 0 },
						  { .hits = 3000, .watched_ns = 2e9 } };
	struct anchor_window at[] = { { .before_ns = 1e9 }, { .before_ns = 1e9 } };
	struct anchor_leader l = { .windows = windows };
	struct anchor_rows rows = { .windows = { .at = at, .n = 2 }, .n_windows = 1 };
	own(freep) struct anchor_gap *gaps = anchor_gaps_find(&rows, &l);

	assert_float_equal(gaps[0].rate, 1.5e-6, 1e-12);
	assert_float_equal(gaps[0].missed_ns, 0, 1);
	assert_float_equal(gaps[1].rate, 1.5e-6, 1e-12);
}

/* Of a program's second half, each gap of which was watched for a tick longer than it was
 * known to be. */
static void what_clocks_differ_is_of_no_earlier_gap(void **state unused)
{
	struct anchor_leader_window windows[N] = { 0 };
	struct anchor_window at[N] = { 0 };
	struct anchor_leader l = { .windows = windows };
	struct anchor_rows rows = { .windows = { .at = at, .n = N }, .n_windows = N - 1 };

	for (int i = 0; i < N; i++) {
		at[i].before_ns = 2e7;
		if (i >= N / 2)
			windows[i] = (struct anchor_leader_window){ .hits = 24,
								    .watched_ns = 2.4e7 };
	}
	own(freep) struct anchor_gap *gaps = anchor_gaps_find(&rows, &l);

	for (int i = 0; i < N; i++) {
		bool is_watched = i >= N / 2;

		assert_int_equal(isnan(gaps[i].rate), !is_watched);
		assert_float_equal(gaps[i].missed_ns, is_watched ? 0 : 2e7, 1);
		if (is_watched)
			assert_float_equal(gaps[i].rate, RATE, RATE / 1e6);
	}
}

/* Windows are short, and have the more and the less by chance. */
static void the_beginning_is_as_the_gap_behind_it(void **state unused)
{
	struct anchor_gap gaps[N];
	double variance;

	begin(gaps);
	for (int i = 0; i < N; i++)
		gaps[i].in_windows = i % 3 == 2 ? 2.5 * RATE : RATE / 4;
	assert_float_equal(anchor_gaps_missed(gaps, N, true, &variance), 1000, 30);
	assert_in_range(sqrt(variance), 10, 100);
}

/* It was watched while it ran, and not told any more. */
static void what_windows_saw_end_is_not_gone_on_with(void **state unused)
{
	struct anchor_gap gaps[N];
	double variance;

	begin(gaps);
	gaps[0] = gaps[1];
	for (int i = N / 2; i < N; i++)
		gaps[i] = (struct anchor_gap){ .rate = NAN, .missed_ns = GAP_NS };
	assert_float_equal(anchor_gaps_missed(gaps, N, true, &variance), 0, 100);
}

static void windows_alone_tell_a_rate(void **state unused)
{
	struct anchor_gap gaps[N];
	double variance;

	begin(gaps);
	for (int i = 0; i < N; i++) {
		gaps[i].rate = NAN;
		gaps[i].missed_ns = GAP_NS;
	}
	assert_float_equal(anchor_gaps_missed(gaps, N, true, &variance), N * 1000, 1e-6);
	assert_true(sqrt(variance) > 1000);
}

static void one_gap_tells_little(void **state unused)
{
	struct anchor_gap gaps[N];
	double variance;

	begin(gaps);
	gaps[0] = gaps[1];
	for (int i = 1; i < N; i++)
		gaps[i] = (struct anchor_gap){ NAN, GAP_NS, 0 };
	assert_true(anchor_gaps_missed(gaps, N, true, &variance) >= 1000);
	assert_true(sqrt(variance) > 1000);
}

/* In some unit that does not matter. */
static void what_gaps_and_windows_count_apart_is_of_no_use(void **state unused)
{
	struct anchor_gap gaps[N];
	double variance;

	begin(gaps);
	for (int i = 0; i < N; i++)
		gaps[i].in_windows = RATE / 30;
	anchor_gaps_missed(gaps, N, true, &variance);
	assert_true(isinf(variance));
	assert_float_equal(anchor_gaps_missed(gaps, N, false, &variance), 1000, 1);
	assert_true(isfinite(variance));
}

/* Of many runs, of which one has the place: looking for it from each gap anew takes
 * longer than a test may. */
static void one_gap_of_many_is_found_at_once(void **state unused)
{
	own(freep) struct anchor_gap *gaps = xcalloc(N_MANY, sizeof(*gaps));
	double variance;

	for (int i = 0; i < N_MANY; i++)
		gaps[i] = (struct anchor_gap){ .rate = i == N_MANY / 2 ? RATE : NAN,
					       .missed_ns = GAP_NS,
					       .in_windows = RATE };
	assert_float_equal(anchor_gaps_missed(gaps, N_MANY, true, &variance),
			   RATE * GAP_NS * N_MANY, 1);
}

/* Of -1 to 1: Marsaglia's xorshift. */
static double chance(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return 2 * (double)(*seed >> 11) / (1ull << 53) - 1;
}

/* Programs that go from one thing to others, and windows that have a part of that. */
static void the_truth_is_as_near_as_is_said(void **state unused)
{
	uint64_t seed = 1;
	int n_right = 0;

	for (int k = 0; k < N_PROGRAMS; k++) {
		struct anchor_gap gaps[N];
		double rate = RATE, first = 0, variance, hits;

		for (int i = 0; i < N; i++) {
			rate *= exp(0.5 * chance(&seed));
			gaps[i] =
				(struct anchor_gap){ rate, 0, rate * exp(chance(&seed)) };
			if (i)
				continue;
			first = rate * GAP_NS;
			gaps[i].rate = NAN;
			gaps[i].missed_ns = GAP_NS;
		}
		hits = anchor_gaps_missed(gaps, N, true, &variance);
		n_right += fabs(hits - first) <= 2 * sqrt(variance);
	}
	assert_in_range(n_right, 9 * N_PROGRAMS / 10, N_PROGRAMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_are_told_by_what_was_watched_in_them),
		cmocka_unit_test(what_is_more_than_its_gap_was_in_earlier_ones),
		cmocka_unit_test(what_clocks_differ_is_of_no_earlier_gap),
		cmocka_unit_test(the_beginning_is_as_the_gap_behind_it),
		cmocka_unit_test(what_windows_saw_end_is_not_gone_on_with),
		cmocka_unit_test(windows_alone_tell_a_rate),
		cmocka_unit_test(one_gap_tells_little),
		cmocka_unit_test(what_gaps_and_windows_count_apart_is_of_no_use),
		cmocka_unit_test(one_gap_of_many_is_found_at_once),
		cmocka_unit_test(the_truth_is_as_near_as_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
