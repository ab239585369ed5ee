/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "analyze/track.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "recording_builder.h"

#define PATH "track_test.dwell"

static const char text[] =
	"event cpu-time unit=ns period=10 experiment=usertime flags=sampled\n"
	"event blocked-time unit=ns period=0 experiment=totaltime flags=exact\n"
	"event io-time unit=ns period=0 experiment=io flags=exact,summed\n"
	"event user-cpu unit=ns period=0 experiment=states flags=sampled,summed\n"
	"event faults unit=count period=1 experiment=faults flags=exact\n"
	"event io-durations unit=count period=1 experiment=io flags=exact,aside,summed\n"
	"use pid=10\n"
	"main event=cpu-time time=100\n"
	"main event=blocked-time time=200 weight=50\n"
	"main event=io-time time=300 weight=50\n";

static const struct {
	const char *name;
	enum track_kind kind;
	bool has_spans, is_shown;
} cases[] = {
	{ "cpu-time", TRACK_BEFORE, true, true },
	{ "blocked-time", TRACK_FROM, true, true },
	{ "io-time", TRACK_SUM, false, true },
	{ "user-cpu", TRACK_SUM, false, true },
	{ "faults", TRACK_AMOUNT, false, true },
	{ "io-durations", TRACK_AMOUNT, false, false },
};

static struct profile *load_of(const char *recording)
{
	static const struct profile_options options = { 0 };
	const char *paths[] = { PATH };
	struct profile *p = NULL;

	recording_builder_write(PATH, recording);
	assert_int_equal(profile_load(paths, 1, &options, &p, NULL), 0);
	unlink(PATH);
	return p;
}

static struct profile *load(void)
{
	return load_of(text);
}

static void events_say_what_a_sample_stands_for(void **state)
{
	own(profile_freep) struct profile *p = load();

	(void)state;
	assert_int_equal(profile_n_columns(p), sizeof(cases) / sizeof(cases[0]));
	for (size_t i = 0; i < profile_n_columns(p); i++) {
		assert_string_equal(profile_column(p, i)->name, cases[i].name);
		assert_int_equal(track_kind_of(p, i), cases[i].kind);
		assert_int_equal(track_has_spans(p, i), cases[i].has_spans);
		assert_int_equal(track_is_shown(p, i), cases[i].is_shown);
	}
}

struct ends {
	const struct profile *profile;
	uint64_t of[6];
};

static int note_end(void *ctx, const struct profile_sample *s, struct err *e)
{
	struct ends *ends = ctx;

	(void)e;
	ends->of[s->column] = track_end_ns(ends->profile, s);
	return 0;
}

/* What was read by itself is all of the sum, of the waits some are summed only. */
static void each_takes_the_place_of_its_sum_where_it_is_all(void **state)
{
	static const char with_each[] =
		"event io-time unit=ns period=0 experiment=io flags=exact,summed\n"
		"event each-io-call unit=ns period=0 experiment=io "
		"flags=exact,aside,each\n"
		"event lock-wait-time unit=ns period=0 experiment=sync "
		"flags=exact,summed\n"
		"event each-lock-wait unit=ns period=0 experiment=sync "
		"flags=exact,aside,each\n"
		"event sync-wait-time unit=ns period=0 experiment=sync "
		"flags=exact,summed\n"
		"event each-sync-wait unit=ns period=0 experiment=sync "
		"flags=exact,aside,each\n"
		"use pid=10\n"
		"main event=io-time time=300 weight=50\n"
		"main event=each-io-call time=200 weight=50\n"
		"main event=lock-wait-time time=300 weight=50\n"
		"main event=each-lock-wait time=250 weight=20\n"
		"main event=sync-wait-time time=300 weight=50\n";
	own(profile_freep) struct profile *p = load_of(with_each);
	static const bool is_all[] = { true, false, false };

	(void)state;
	for (size_t i = 0; i < sizeof(is_all) / sizeof(is_all[0]); i++) {
		assert_int_equal(track_is_told_one_by_one(p, 2 * i), is_all[i]);
		assert_int_equal(track_is_instead(p, 2 * i + 1), is_all[i]);
		assert_true(track_is_each(p, 2 * i + 1));
		assert_false(track_is_each(p, 2 * i) || track_is_instead(p, 2 * i));
		assert_int_equal(track_kind_of(p, 2 * i + 1), TRACK_FROM);
	}
}

/* Of a sum that two events have, one by one, neither is all of it by itself. */
static void requests_are_beside_what_their_thread_does(void **state)
{
	static const char with_requests[] =
		"event io-time unit=ns period=0 experiment=io flags=exact,summed\n"
		"event each-io-call unit=ns period=0 experiment=io "
		"flags=exact,aside,each\n"
		"event each-io-request unit=ns period=0 experiment=io "
		"flags=exact,aside,each,beside\n"
		"use pid=10\n"
		"main event=io-time time=300 weight=50\n"
		"main event=each-io-call time=200 weight=20\n";
	own(freep) char *all = xasprintf(
		"%smain event=each-io-request time=200 weight=30\n", with_requests);
	own(profile_freep) struct profile *p = load_of(all);
	own(profile_freep) struct profile *some = load_of(with_requests);

	(void)state;
	assert_true(track_is_told_one_by_one(p, 0));
	assert_true(track_is_instead(p, 1) && track_is_instead(p, 2));
	assert_true(track_has_spans(p, 1) && !track_is_beside(p, 1));
	assert_true(track_is_beside(p, 2) && !track_has_spans(p, 2));
	assert_int_equal(track_kind_of(p, 2), TRACK_FROM);
	assert_false(track_is_told_one_by_one(some, 0));
	assert_false(track_is_instead(some, 1));
}

static void a_wait_ends_behind_its_moment(void **state)
{
	own(profile_freep) struct profile *p = load();
	struct ends ends = { .profile = p };

	(void)state;
	assert_int_equal(profile_each_sample(p, note_end, &ends, NULL), 0);
	assert_int_equal(ends.of[0], 100);
	assert_int_equal(ends.of[1], 250);
	assert_int_equal(ends.of[2], 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_say_what_a_sample_stands_for),
		cmocka_unit_test(a_wait_ends_behind_its_moment),
		cmocka_unit_test(each_takes_the_place_of_its_sum_where_it_is_all),
		cmocka_unit_test(requests_are_beside_what_their_thread_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
