/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/spread.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fixture.h"

#define MS   1000000ull
#define MANY 8

/* Recordings of one event, each of so many samples. */
static struct profile *profile_of(const uint64_t *totals, size_t n, uint64_t period)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	p->n_sources = n;
	for (uint32_t i = 0; i < n; i++)
		*vec_push(&p->columns) = (struct profile_column){
			.source = i,
			.name = "time",
			.unit = "ns",
			.whole = MODEL_NONE,
			.period = period,
			.total_count = totals[i],
			.total_weight = totals[i] * period,
		};
	return p;
}

static void profile_fini(struct profile **p)
{
	vec_fini(&(*p)->columns);
	free(*p);
}

static struct spread spread_in(const struct profile *p, bool is_share,
			       const uint64_t *samples)
{
	size_t shown[MANY], n = p->n_sources;
	uint64_t values[MANY];
	own(comparison_fini) struct comparison c = { 0 };
	own(spread_sets_fini) struct spread_sets s = { 0 };

	for (size_t i = 0; i < n; i++) {
		shown[i] = i;
		values[i] = samples[i] * p->columns.at[i].period;
	}
	comparison_find(&c, p, shown, n);
	assert_int_equal(c.n_events, 1);
	spread_sets_init(&s, p, &c, 0, is_share);
	return spread_of(&s, values);
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

/* The row smooth of figure 3 of DCPI's paper has this sum and range; the values between
 * are made up. */
static void it_computes_the_columns_of_dcpistats(void **state unused)
{
	static const uint64_t totals[MANY] = { 860000, 860000, 860000, 860000,
					       860000, 860000, 860000, 860000 };
	static const uint64_t smooth[MANY] = { 38155, 39000, 48000, 55000,
					       56000, 57810, 59000, 88075 };
	own(profile_fini) struct profile *p = profile_of(totals, MANY, MS);
	struct spread r = spread_in(p, false, smooth);

	assert_int_equal(r.n, 8);
	assert_true(r.sum == 441040.0 * MS && r.mean == 55130.0 * MS);
	assert_true(r.min == 38155.0 * MS && r.max == 88075.0 * MS);
	assert_true(is_near(r.range, 49920.0 / 441040.0));
	assert_false(r.is_chance);
}

/* As Python's statistics.stdev([2, 4, 4, 4, 5, 5, 7, 9]). */
static void the_deviation_is_that_of_a_sample(void **state unused)
{
	static const uint64_t totals[MANY] = { 99, 99, 99, 99, 99, 99, 99, 99 };
	static const uint64_t values[MANY] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	own(profile_fini) struct profile *p = profile_of(totals, MANY, 1);
	struct spread r = spread_in(p, false, values);

	assert_true(r.mean == 5);
	assert_true(is_near(r.deviation, 2.138089935299395));
}

static void where_a_row_is_missing_it_is_0(void **state unused)
{
	static const uint64_t totals[] = { 100, 100, 100, 100 };
	static const uint64_t values[] = { 0, 30, 0, 10 };
	own(profile_fini) struct profile *p = profile_of(totals, 4, MS);
	struct spread r = spread_in(p, false, values);

	assert_int_equal(r.n, 2);
	assert_true(r.mean == 10.0 * MS && r.min == 0 && r.range == 0.75);
	assert_false(r.is_chance);
}

static void what_sampling_alone_may_do_is_told(void **state unused)
{
	static const struct {
		uint64_t period, values[4];
		bool is_chance;
	} t[] = {
		{ MS, { 100, 110, 95, 105 }, true },
		{ MS, { 100, 150, 95, 105 }, false },
		{ MS, { 100, 100, 100, 100 }, false }, /* no spread at all */
		{ 1, { 100, 101, 100, 100 }, false },  /* each one was seen */
		{ MS, { 0, 1, 0, 0 }, true },	       /* rare ones */
		{ MS, { 0, 2, 0, 0 }, true },
		{ MS, { 1, 1, 0, 0 }, true },
		{ MS, { 0, 3, 0, 0 }, true },
		{ MS, { 0, 8, 0, 0 }, false },
		/* Chi-square of 3 degrees: one in twenty is above 7.81. */
		{ MS, { 1000, 1050, 1000, 1070 }, true },
		{ MS, { 1000, 1050, 1000, 1112 }, false },
	};
	static const uint64_t totals[] = { 1000000, 1000000, 1000000, 1000000 };

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(profile_fini) struct profile *p = profile_of(totals, 4, t[i].period);

		assert_int_equal(spread_in(p, false, t[i].values).is_chance,
				 t[i].is_chance);
	}
}

/* Nine tenths of all samples cannot vary as half of them would. */
static void a_large_share_varies_less(void **state unused)
{
	static const uint64_t totals[] = { 1000, 1000 };
	static const uint64_t large[] = { 890, 930 }, half[] = { 500, 540 };
	own(profile_fini) struct profile *p = profile_of(totals, 2, MS);

	assert_false(spread_in(p, false, large).is_chance);
	assert_true(spread_in(p, false, half).is_chance);
}

static void shares_are_compared_at_the_mean_total(void **state unused)
{
	static const uint64_t totals[] = { 1000, 3000 };
	static const uint64_t values[] = { 250, 750 };
	own(profile_fini) struct profile *p = profile_of(totals, 2, MS);
	struct spread as_is = spread_in(p, false, values);
	struct spread share = spread_in(p, true, values);

	assert_true(as_is.range == 0.5 && !as_is.is_chance);
	assert_true(share.range == 0 && share.mean == 500.0 * MS);
}

static void a_recording_without_samples_counts(void **state unused)
{
	static const uint64_t totals[] = { 1000, 0, 1000 };
	static const uint64_t values[] = { 100, 0, 100 }, few[] = { 1, 0, 1 };
	own(profile_fini) struct profile *p = profile_of(totals, 3, MS);

	assert_false(spread_in(p, false, values).is_chance);
	assert_true(spread_in(p, false, few).is_chance);
	assert_true(spread_in(p, true, values).min == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_computes_the_columns_of_dcpistats),
		cmocka_unit_test(the_deviation_is_that_of_a_sample),
		cmocka_unit_test(where_a_row_is_missing_it_is_0),
		cmocka_unit_test(what_sampling_alone_may_do_is_told),
		cmocka_unit_test(a_large_share_varies_less),
		cmocka_unit_test(shares_are_compared_at_the_mean_total),
		cmocka_unit_test(a_recording_without_samples_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
