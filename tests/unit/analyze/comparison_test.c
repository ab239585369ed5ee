/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/comparison.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/time_column.h"
#include "base/mem.h"
#include "fixture.h"

#define MS 1000000ull

/* Two recordings, each with an event "time"; the second has another one. */
static struct profile *profile_of(uint64_t period)
{
	static const struct profile_column columns[] = {
		{ .source = 0, .name = "time", .unit = "ns" },
		{ .source = 1, .name = "faults", .unit = "count" },
		{ .source = 1, .name = "time", .unit = "ns" },
	};
	struct profile *p = xcalloc(1, sizeof(*p));

	p->n_sources = 2;
	for (size_t i = 0; i < 3; i++) {
		struct profile_column *c = vec_push(&p->columns);

		*c = columns[i];
		c->period = period;
		c->whole = MODEL_NONE;
		c->total_count = 1000;
		c->total_weight = 1000 * MS;
	}
	return p;
}

static void profile_fini(struct profile **p)
{
	vec_fini(&(*p)->columns);
	free((*p)->cpu_column_of);
	free(*p);
}

static void an_event_is_compared_when_all_recordings_have_it(void **state unused)
{
	static const size_t shown[] = { 0, 1, 2 };
	own(profile_fini) struct profile *p = profile_of(MS);
	own(comparison_fini) struct comparison c = { 0 };

	comparison_find(&c, p, shown, 3);
	assert_int_equal(c.n_events, 1);
	assert_int_equal(comparison_column(&c, 0, 0), 0);
	assert_int_equal(comparison_column(&c, 0, 1), 2);
}

static void a_recording_alone_is_not_compared(void **state unused)
{
	static const size_t shown[] = { 0 };
	own(profile_fini) struct profile *p = profile_of(MS);
	own(comparison_fini) struct comparison c = { 0 };

	p->n_sources = 1;
	comparison_find(&c, p, shown, 1);
	assert_int_equal(c.n_events, 0);
}

/* Of 100 samples the standard error is about 9.5, of two such values 13.4. */
static void what_so_few_samples_may_do_by_chance_is_told(void **state unused)
{
	static const struct {
		uint64_t period, before, after;
		bool is_chance;
	} t[] = {
		{ MS, 100, 100, true },	 { MS, 100, 125, true },
		{ MS, 100, 130, false }, { MS, 100, 72, false },
		{ MS, 0, 3, true },	 { MS, 0, 6, false },
		{ 1, 100, 101, false }, /* each one was seen */
		{ MS, 1000, 999, true }, { MS, 1000, 990, false },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(profile_fini) struct profile *p = profile_of(t[i].period);
		struct comparison_change c =
			comparison_of(p, 0, t[i].before * MS, 2, t[i].after * MS, 1);

		assert_int_equal(c.delta, ((int64_t)t[i].after - (int64_t)t[i].before) *
						  (int64_t)MS);
		assert_int_equal(c.is_chance, t[i].is_chance);
	}
}

static void ratios_tell_what_is_new_and_what_is_gone(void **state unused)
{
	own(profile_fini) struct profile *p = profile_of(MS);

	assert_true(comparison_of(p, 0, 2, 2, 3, 1).ratio == 1.5);
	assert_true(comparison_of(p, 0, 2, 2, 0, 1).ratio == 0);
	assert_true(isinf(comparison_of(p, 0, 0, 2, 3, 1).ratio));
	assert_true(isnan(comparison_of(p, 0, 0, 2, 0, 1).ratio));
}

/* Twice the total, and twice of it: nothing changed but the length. */
static void shares_are_compared_at_the_total_of_the_first(void **state unused)
{
	static const size_t shown[] = { 0, 1, 2 };
	own(profile_fini) struct profile *p = profile_of(MS);
	own(comparison_fini) struct comparison c = { 0 };

	p->columns.at[2].total_weight *= 2;
	p->columns.at[2].total_count *= 2;
	comparison_find(&c, p, shown, 3);
	assert_true(comparison_factor(&c, p, 0, 1) == 1);
	c.is_share = true;
	assert_true(comparison_factor(&c, p, 0, 0) == 1);
	assert_true(comparison_factor(&c, p, 0, 1) == 0.5);
	assert_int_equal(comparison_of(p, 0, 100 * MS, 2, 200 * MS, 0.5).delta, 0);
	/* The standard error of 200 halved is less than that of 100. */
	assert_true(comparison_of(p, 0, 100 * MS, 2, 244 * MS, 0.5).is_chance);
	assert_false(comparison_of(p, 0, 100 * MS, 2, 250 * MS, 0.5).is_chance);
}

/* What is known exactly is off by chance as far as the other is sampled. */
static void ideal_time_is_compared_with_sampled_time(void **state unused)
{
	static const struct profile_column columns[] = {
		{ .source = 0, .name = "instructions", .unit = "count", .period = 1 },
		{ .source = 0, .name = "ideal-time", .unit = "ns", .event = MODEL_NONE },
		{ .source = 1, .name = "cpu-time", .unit = "ns", .period = MS },
	};
	own(profile_fini) struct profile *p = xcalloc(1, sizeof(*p));
	own(comparison_fini) struct comparison c = { 0 };

	p->n_sources = 2;
	for (size_t i = 0; i < 3; i++)
		*vec_push(&p->columns) = columns[i];
	p->columns.at[2].total_count = 1000;
	p->columns.at[2].total_weight = 1000 * MS;
	time_column_choose(p);
	assert_true(comparison_find_ideal(&c, p));
	assert_int_equal(comparison_column(&c, 0, 0), 1);
	assert_int_equal(comparison_column(&c, 0, 1), 2);
	/* Of 100 samples two standard errors are 19, of none expected none. */
	assert_true(comparison_of(p, 1, 100 * MS, 2, 118 * MS, 1).is_chance);
	assert_false(comparison_of(p, 1, 100 * MS, 2, 130 * MS, 1).is_chance);
	assert_false(comparison_of(p, 1, 100 * MS, 2, 0, 1).is_chance);
	assert_true(comparison_of(p, 1, 2 * MS, 2, 0, 1).is_chance);

	p->columns.n = 2;
	assert_false(comparison_find_ideal(&(struct comparison){ 0 }, p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_compared_when_all_recordings_have_it),
		cmocka_unit_test(a_recording_alone_is_not_compared),
		cmocka_unit_test(what_so_few_samples_may_do_by_chance_is_told),
		cmocka_unit_test(shares_are_compared_at_the_total_of_the_first),
		cmocka_unit_test(ratios_tell_what_is_new_and_what_is_gone),
		cmocka_unit_test(ideal_time_is_compared_with_sampled_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
