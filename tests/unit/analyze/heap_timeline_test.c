/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/heap_timeline.h"
#include "base/own.h"
#include "recording_builder.h"

#define PATH "heap_timeline_test.dwell"

/* Two processes: the first holds most, from 300 ns to 400 ns after its beginning. */
static const char *const two =
	"process 10 large start=1000 end=1800\n"
	"process 20 small start=1100 end=1300\n"
	"interval 1000 1250 warm cause=program\n"
	"interval 1250 1500 \"\" cause=timer\n"
	"interval 1500 1600 \"\" cause=signal\n"
	"interval 1600 1900 late cause=ctl\n"
	"event leaked-bytes unit=bytes period=0 experiment=heap flags=exact\n"
	"event allocated-bytes unit=bytes period=0 experiment=heap flags=exact\n"
	"use event=allocated-bytes pid=10 tid=10 time=1000\n"
	"main weight=1\n"
	"use event=allocated-bytes pid=20 tid=20 time=1100\n"
	"main weight=1\n"
	"trace-type course event=leaked-bytes held-at-most:bytes held:bytes "
	"held-blocks:u64 allocated:bytes allocations:u64\n"
	"trace course - pid=10 tid=10 time=1050 held-at-most=7 held=5 held-blocks=1 "
	"allocated=7 allocations=2\n"
	"trace course - pid=10 tid=10 time=1400 held-at-most=90 held=40 held-blocks=4 "
	"allocated=97 allocations=12\n"
	"trace course - pid=20 tid=20 time=1200 held-at-most=8 held=3 held-blocks=1 "
	"allocated=8 allocations=3\n"
	"gauge resident-bytes 1250 4096 pid=10\n"
	"gauge resident-bytes 1250 9999 pid=20\n"
	"gauge resident-bytes 1600 0 pid=10\n";

static void load(const char *filter, size_t n_lines, struct heap_timeline *ret,
		 struct profile **ret_profile)
{
	const char *const paths[] = { PATH };
	const struct profile_options o = { .filter = filter };
	struct heap_rows rows = { 0 };
	struct err e = { 0 };

	recording_builder_write(PATH, two);
	assert_int_equal(profile_load(paths, 1, &o, ret_profile, &e), 0);
	unlink(PATH);
	assert_int_equal(heap_rows_load(&rows, profile_source(*ret_profile, 0), &e), 0);
	assert_int_equal(heap_timeline_load(ret, *ret_profile, 0, &rows, n_lines, &e), 0);
	heap_rows_fini(&rows);
}

static void what_was_held_is_held_until_something_changes(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(heap_timeline_fini) struct heap_timeline t = { 0 };
	static const struct heap_timeline_line want[] = {
		{ 0, 200, 7, 5, 1, 2, 0, false, false },
		{ 200, 400, 90, 40, 4, 10, 4096, true, true },
		{ 400, 600, 40, 40, 4, 0, 0, false, false },
		{ 600, 800, 40, 40, 4, 0, 0, false, false },
	};

	(void)state;
	load(NULL, 4, &t, &p);
	assert_int_equal(t.most_bytes, 90);
	assert_int_equal(t.lines.n, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct heap_timeline_line *x = &t.lines.at[i];

		assert_int_equal(x->from_ns, want[i].from_ns);
		assert_int_equal(x->to_ns, want[i].to_ns);
		assert_int_equal(x->most_bytes, want[i].most_bytes);
		assert_int_equal(x->bytes, want[i].bytes);
		assert_int_equal(x->blocks, want[i].blocks);
		assert_int_equal(x->allocations, want[i].allocations);
		assert_int_equal(x->resident_bytes, want[i].resident_bytes);
		assert_int_equal(x->has_resident, want[i].has_resident);
		assert_int_equal(x->is_peak, want[i].is_peak);
	}
}

static void marks_are_what_somebody_made_while_it_ran(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(heap_timeline_fini) struct heap_timeline t = { 0 };

	(void)state;
	load(NULL, 4, &t, &p);
	assert_int_equal(t.marks.n, 2);
	assert_string_equal(t.marks.at[0].name, "warm");
	assert_int_equal(t.marks.at[0].time_ns, 250);
	assert_string_equal(t.marks.at[1].name, "signal");
	assert_int_equal(t.marks.at[1].interval, 2);
}

static void a_filter_chooses_the_process(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(heap_timeline_fini) struct heap_timeline t = { 0 };

	(void)state;
	load("process == small", 2, &t, &p);
	assert_int_equal(t.most_bytes, 8);
	assert_int_equal(t.lines.at[1].to_ns, 200);
	assert_int_equal(t.lines.at[1].resident_bytes, 9999);
}

static void nobody_has_no_lines(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(heap_timeline_fini) struct heap_timeline t = { 0 };

	(void)state;
	load("process == nobody", 2, &t, &p);
	assert_int_equal(t.process, MODEL_NONE);
	assert_int_equal(t.lines.n, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_held_is_held_until_something_changes),
		cmocka_unit_test(marks_are_what_somebody_made_while_it_ran),
		cmocka_unit_test(a_filter_chooses_the_process),
		cmocka_unit_test(nobody_has_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
