/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/chronicle.h"
#include "recording_builder.h"

#define PATH "chronicle_test.dwell"

/* Ten cells of 100 ns each, from 1000 on. */
static const char head[] =
	"event cpu-time unit=ns period=100 experiment=usertime flags=sampled\n"
	"event blocked-time unit=ns period=0 experiment=totaltime flags=exact\n"
	"event io-time unit=ns period=0 experiment=io flags=exact,summed\n"
	"process 10 program start=1000 end=2000\nthread 10 11 helper\n";

static void make_of(const char *text, const char *filter, struct chronicle_range range,
		    struct profile **p, struct chronicle *t)
{
	const struct profile_options options = { .filter = filter };
	const char *paths[] = { PATH };

	recording_builder_write(PATH, text);
	assert_int_equal(profile_load(paths, 1, &options, p, NULL), 0);
	assert_int_equal(chronicle_load(t, *p, 0, &range, SIZE_MAX, NULL), 0);
	unlink(PATH);
}

static void make(const char *samples, struct chronicle_range range, struct profile **p,
		 struct chronicle *t)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", head, samples);
	make_of(text, NULL, range, p, t);
}

static void is(const struct chronicle_thread *x, size_t cell, enum chronicle_kind kind,
	       double ns)
{
	if (fabs(x->cells[cell].ns[kind] - ns) > 1e-6)
		fail_msg("cell %zu has %g of %s, not %g", cell, x->cells[cell].ns[kind],
			 chronicle_kind_name(kind), ns);
}

static void is_in(const struct profile *p, const struct chronicle_cell *c,
		  const char *function)
{
	assert_int_not_equal(c->function, MODEL_NONE);
	assert_string_equal(profile_function(p, c->function)->name, function);
}

static void samples_are_of_the_time_before_them(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };

	(void)state;
	make("use pid=10\n"
	     "main event=cpu-time time=1250\n"
	     "main event=blocked-time time=1250 weight=220\n",
	     (struct chronicle_range){ .n_cells = 10 }, &p, &t);
	assert_int_equal(t.threads.n, 1);
	is(&t.threads.at[0], 0, CHRONICLE_RUN, 0);
	is(&t.threads.at[0], 1, CHRONICLE_RUN, 50);
	is(&t.threads.at[0], 2, CHRONICLE_RUN, 50);
	is(&t.threads.at[0], 2, CHRONICLE_BLOCKED, 50);
	is(&t.threads.at[0], 3, CHRONICLE_BLOCKED, 100);
	is(&t.threads.at[0], 4, CHRONICLE_BLOCKED, 70);
	is(&t.threads.at[0], 5, CHRONICLE_BLOCKED, 0);
}

static void the_innermost_function_of_the_most_time_is_named(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };
	const struct chronicle_cell *cells;

	(void)state;
	make("use pid=10 event=cpu-time\n"
	     "main;parse;scan time=1020 weight=20\n"
	     "main;parse;copy time=1040 weight=20\n"
	     "main;parse;hash time=1060 weight=20\n"
	     "main;other time=1080 weight=20\n"
	     "main;walk;walk;walk;leaf time=1200 weight=100\n"
	     "main;walk time=1300 weight=60\n"
	     "main;walk;walk time=1240 weight=40\n",
	     (struct chronicle_range){ .n_cells = 10 }, &p, &t);
	cells = t.threads.at[0].cells;
	is_in(p, &cells[0], "parse");
	assert_int_equal(cells[0].function_ns, 60);
	is_in(p, &cells[1], "leaf");
	is_in(p, &cells[2], "walk");
	assert_int_equal(cells[2].function_ns, 100);
	assert_int_equal(cells[3].function, MODEL_NONE);
}

static void sums_are_of_the_time_since_those_before(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };

	(void)state;
	make("use pid=10 event=io-time\n"
	     "main;read time=1400 weight=100\n"
	     "main;write time=1400 weight=20\n"
	     "main;read time=1600 weight=40\n"
	     "main;read time=1700 weight=200\n",
	     (struct chronicle_range){ .n_cells = 10 }, &p, &t);
	for (size_t i = 0; i < 4; i++)
		is(&t.threads.at[0], i, CHRONICLE_IO, 30);
	is(&t.threads.at[0], 4, CHRONICLE_IO, 20);
	/* What is longer than that was told when it was over. */
	is(&t.threads.at[0], 5, CHRONICLE_IO, 120);
	is(&t.threads.at[0], 6, CHRONICLE_IO, 100);
	is(&t.threads.at[0], 7, CHRONICLE_IO, 0);
}

/* A minute of cells of a second each. */
#define MINUTE(MORE)                                                                     \
	"event io-time unit=ns experiment=io flags=exact,summed\n"                       \
	"event written-bytes unit=bytes experiment=io flags=exact,summed\n"              \
	"process 10 program start=1000000000 end=61000000000\nuse pid=10\n" MORE

static void a_rest_before_a_sum_is_no_part_of_it(void **state)
{
	static const char text[] =
		MINUTE("main;read event=io-time time=2000000000 weight=500000000\n"
		       "main;write event=io-time time=61000000000 weight=900000000\n");
	static const char *const filters[] = { NULL, "function == write" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		own(profile_freep) struct profile *p = NULL;
		own(chronicle_fini) struct chronicle t = { 0 };

		make_of(text, filters[i], (struct chronicle_range){ .n_cells = 60 }, &p,
			&t);
		is(&t.threads.at[0], 0, CHRONICLE_IO, i == 0 ? 5e8 : 0);
		for (size_t cell = 1; cell < 59; cell++)
			is(&t.threads.at[0], cell, CHRONICLE_IO, 0);
		is(&t.threads.at[0], 59, CHRONICLE_IO, 9e8);
	}
}

static void what_a_filter_leaves_out_was_told_before_all_the_same(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };

	(void)state;
	make_of(MINUTE("main;read event=io-time time=2000000000 weight=500000000\n"
		       "main;read event=written-bytes time=2500000000 weight=1\n"
		       "main;write event=io-time time=3000000000 weight=400000000\n"),
		"function == write", (struct chronicle_range){ .n_cells = 120 }, &p, &t);
	is(&t.threads.at[0], 2, CHRONICLE_IO, 0);
	is(&t.threads.at[0], 3, CHRONICLE_IO, 4e8);
	is(&t.threads.at[0], 4, CHRONICLE_IO, 0);
}

static void a_wait_that_is_told_late_was_over_before_the_rest(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };

	(void)state;
	make_of("event user-cpu unit=ns experiment=states flags=sampled,summed\n"
		"event sleep unit=ns experiment=states flags=sampled,summed\n"
		"process 10 program start=1000000000 end=61000000000\nuse pid=10\n"
		"main;work event=user-cpu time=61000000000 weight=600000000\n"
		"main;idle event=sleep time=61000000000 weight=59100000000\n"
		"main;rest event=user-cpu time=61000000000 weight=300000000\n",
		NULL, (struct chronicle_range){ .n_cells = 60 }, &p, &t);
	is(&t.threads.at[0], 0, CHRONICLE_ASLEEP, 1e9);
	is(&t.threads.at[0], 58, CHRONICLE_ASLEEP, 1e9);
	is(&t.threads.at[0], 58, CHRONICLE_RUN, 0);
	is(&t.threads.at[0], 59, CHRONICLE_RUN, 9e8);
	is(&t.threads.at[0], 59, CHRONICLE_ASLEEP, 1e8);
}

static void what_is_known_better_is_no_other_wait(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };

	(void)state;
	make("use pid=10\n"
	     "main event=blocked-time time=1000 weight=100\n"
	     "main event=io-time time=1100 weight=80\n",
	     (struct chronicle_range){ .n_cells = 10 }, &p, &t);
	is(&t.threads.at[0], 0, CHRONICLE_IO, 80);
	is(&t.threads.at[0], 0, CHRONICLE_BLOCKED, 20);
	assert_int_equal(chronicle_most(t.threads.at[0].cells[0].ns), CHRONICLE_IO);
	assert_int_equal(chronicle_most(t.threads.at[0].cells[1].ns), CHRONICLE_NONE);
}

static void who_waits_in_a_region_does_not_run_in_it(void **state)
{
	static const char events[] =
		"event region-time unit=ns period=0 experiment=regions flags=exact\n"
		"event lock-wait-time unit=ns period=0 experiment=sync flags=exact\n"
		"process 10 program start=1000 end=2000\nuse pid=10\n";
	static const char samples[] = "work event=region-time time=1000 weight=300\n"
				      "take event=lock-wait-time time=1100 weight=80\n"
				      "take event=lock-wait-time time=1200 weight=100\n";
	char text[1024];

	(void)state;
	for (int has_cpu = 0; has_cpu < 2; has_cpu++) {
		own(profile_freep) struct profile *p = NULL;
		own(chronicle_fini) struct chronicle t = { 0 };
		const struct chronicle_cell *cells;

		snprintf(text, sizeof(text), "%s%s%s", has_cpu ? head : "", events,
			 samples);
		make_of(text, NULL, (struct chronicle_range){ .n_cells = 10 }, &p, &t);
		cells = t.threads.at[0].cells;
		is(&t.threads.at[0], 0, CHRONICLE_RUN, has_cpu ? 0 : 100);
		is(&t.threads.at[0], 1, CHRONICLE_RUN, has_cpu ? 0 : 20);
		is(&t.threads.at[0], 1, CHRONICLE_LOCK, 80);
		is(&t.threads.at[0], 2, CHRONICLE_RUN, 0);
		assert_int_equal(chronicle_most(cells[2].ns), CHRONICLE_LOCK);
		assert_int_equal(cells[2].function, MODEL_NONE);
		if (has_cpu)
			continue;
		is_in(p, &cells[1], "work");
		assert_int_equal(cells[1].function_ns, 20);
		assert_int_equal(t.threads.at[0].ns[CHRONICLE_RUN], 120);
	}
}

static void states_say_it_all(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };

	(void)state;
	make("event io-wait unit=ns period=0 experiment=states flags=exact,summed\n"
	     "event user-cpu unit=ns period=0 experiment=states flags=sampled,summed\n"
	     "use pid=10 event=cpu-time\n"
	     "main time=1100 weight=100\n"
	     "main event=io-time time=1100 weight=100\n"
	     "main event=io-wait time=1100 weight=30\n"
	     "main event=user-cpu time=1100 weight=70\n",
	     (struct chronicle_range){ .n_cells = 10 }, &p, &t);
	is(&t.threads.at[0], 0, CHRONICLE_RUN, 70);
	is(&t.threads.at[0], 0, CHRONICLE_IO, 30);
}

static void a_part_of_the_time_is_cut_out(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };

	(void)state;
	make("use pid=10 event=cpu-time\n"
	     "main time=1220 weight=100\n"
	     "main time=1350 weight=100\n"
	     "use pid=10 tid=11\n"
	     "main time=1280 weight=80\n"
	     "main time=1900 weight=500\n",
	     (struct chronicle_range){ .from_ns = 200, .to_ns = 300, .n_cells = 5 }, &p,
	     &t);
	assert_int_equal(t.threads.n, 2);
	assert_int_equal(t.threads.at[0].thread->tid, 11);
	assert_int_equal(t.threads.at[0].ns[CHRONICLE_RUN], 80);
	assert_int_equal(t.threads.at[1].ns[CHRONICLE_RUN], 70);
	is(&t.threads.at[1], 0, CHRONICLE_RUN, 20);
	is(&t.threads.at[1], 1, CHRONICLE_RUN, 0);
	is(&t.threads.at[1], 2, CHRONICLE_RUN, 10);
	is(&t.threads.at[1], 4, CHRONICLE_RUN, 20);
	assert_int_equal(chronicle_cell_at(&t, 1300), 4);
	assert_int_equal(chronicle_cell_at(&t, 1199), 5);
	assert_int_equal(chronicle_cell_at(&t, 1301), 5);
}

/* Whatever other recordings have, and once. */
static void cycles_are_time_where_there_is_no_other(void **state)
{
	static const struct profile_options options = { 0 };
	const char *paths[] = { PATH, PATH ".cycles" };
	const struct chronicle_range range = { .n_cells = 10 };
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };
	char text[4096];

	(void)state;
	snprintf(text, sizeof(text), "%smain pid=10 event=cpu-time time=1100\n", head);
	recording_builder_write(paths[0], text);
	recording_builder_write(paths[1],
				"event cycles unit=count period=200 flags=sampled\n"
				"event cycles:u unit=count period=200 flags=sampled\n"
				"info clock-mhz 2000\n"
				"process 10 program start=1000 end=2000\n"
				"use pid=10\n"
				"main event=cycles time=1200\n"
				"main event=cycles:u time=1200\n");
	assert_int_equal(profile_load(paths, 2, &options, &p, NULL), 0);
	assert_int_equal(chronicle_load(&t, p, 1, &range, SIZE_MAX, NULL), 0);
	assert_int_equal(t.threads.at[0].ns[CHRONICLE_RUN], 100);
	is(&t.threads.at[0], 1, CHRONICLE_RUN, 100);
	unlink(paths[0]);
	unlink(paths[1]);
}

static void only_the_busiest_have_cells(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };
	const struct chronicle_range range = { .n_cells = 10 };

	(void)state;
	make("main event=cpu-time pid=10 time=1100 weight=50\n"
	     "main event=cpu-time pid=10 tid=11 time=1200 weight=60\n",
	     range, &p, &t);
	chronicle_fini(&t);
	assert_int_equal(chronicle_load(&t, p, 0, &range, 1, NULL), 0);
	assert_int_equal(t.threads.n, 2);
	assert_int_equal(t.threads.at[0].thread->tid, 11);
	is_in(p, &t.threads.at[0].cells[1], "main");
	assert_int_equal(t.threads.at[1].ns[CHRONICLE_RUN], 50);
	assert_null(t.threads.at[1].cells);
}

/* As a damaged recording may have it. */
static void the_longest_time_has_an_end(void **state)
{
	const struct chronicle t = { .to_ns = UINT64_MAX, .n_cells = 10 };

	(void)state;
	assert_true(chronicle_cell_ns(&t, 10) == UINT64_MAX);
	assert_true(chronicle_cell_ns(&t, 9) < UINT64_MAX);
	assert_int_equal(chronicle_cell_at(&t, UINT64_MAX), 9);
	assert_true(chronicle_whole(0x1p65) == UINT64_MAX);
	assert_true(chronicle_whole(1.5) == 2);
}

static void no_time_is_refused(void **state)
{
	own(profile_freep) struct profile *p = NULL;
	own(chronicle_fini) struct chronicle t = { 0 };
	struct chronicle_range range = { .from_ns = 1000, .n_cells = 10 };
	struct err e = { 0 };

	(void)state;
	make("main pid=10 time=1100\n", (struct chronicle_range){ .n_cells = 10 }, &p,
	     &t);
	chronicle_fini(&t);
	assert_int_equal(chronicle_load(&t, p, 0, &range, 1, &e), ERR_USAGE);
	range.from_ns = UINT64_MAX - 500; /* what it is added to wraps around */
	assert_int_equal(chronicle_load(&t, p, 0, &range, 1, &e), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_of_the_time_before_them),
		cmocka_unit_test(the_innermost_function_of_the_most_time_is_named),
		cmocka_unit_test(sums_are_of_the_time_since_those_before),
		cmocka_unit_test(a_rest_before_a_sum_is_no_part_of_it),
		cmocka_unit_test(what_a_filter_leaves_out_was_told_before_all_the_same),
		cmocka_unit_test(a_wait_that_is_told_late_was_over_before_the_rest),
		cmocka_unit_test(what_is_known_better_is_no_other_wait),
		cmocka_unit_test(who_waits_in_a_region_does_not_run_in_it),
		cmocka_unit_test(states_say_it_all),
		cmocka_unit_test(a_part_of_the_time_is_cut_out),
		cmocka_unit_test(cycles_are_time_where_there_is_no_other),
		cmocka_unit_test(only_the_busiest_have_cells),
		cmocka_unit_test(the_longest_time_has_an_end),
		cmocka_unit_test(no_time_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
