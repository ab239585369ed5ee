/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_rest.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collect/experiment.h"
#include "collect/source.h"

#define MS	UINT64_C(1000000)
#define LATE_NS (5 * MS)

struct fixture {
	struct scope scope;
	struct plan plan;
	struct perf_files files;
};

/* Every experiment's streams, on a program whose children are followed. */
static void init(struct fixture *f, const char *experiment, uint64_t interval,
		 size_t ring_bytes)
{
	*f = (struct fixture){ .scope = { .kind = SCOPE_LAUNCH,
					  .follow_children = true } };
	assert_int_equal(experiment_find(experiment, &f->plan.choice, NULL), 0);
	f->plan.choice.interval = interval;
	f->files.ring_bytes = ring_bytes;
}

static uint64_t rest_ns(struct fixture *f)
{
	const struct perf_stream_spec *specs[PERF_STREAM_SPECS_MAX];
	struct perf_stream_settings settings = { .scope = &f->scope,
						 .ring_bytes = f->files.ring_bytes };
	size_t n = perf_stream_specs(f->plan.choice.experiment, specs,
				     PERF_STREAM_SPECS_MAX);
	uint64_t ns;

	for (size_t i = 0; i < n; i++)
		perf_stream_init(vec_push(&f->files.streams), specs[i], &f->plan, i == 0,
				 &settings);
	ns = perf_rest_ns(&f->files, LATE_NS);
	vec_fini(&f->files.streams);
	vec_fini(&f->files.cpus);
	return ns;
}

static void a_rest_is_as_long_as_the_ring_has_room_for(void **state)
{
	const struct {
		const char *experiment;
		uint64_t interval_ns;
		size_t ring_bytes;
		uint64_t least_ns, most_ns;
	} cases[] = {
		/* 66 KB each, and 2 KB of mappings: three quarters of 8 MB are full after
		 * 9 ms, of which 5 are for what is late. */
		{ "usertime", MS / 10, 8 << 20, 4 * MS, 5 * MS },
		{ "usertime", MS, 8 << 20, 20 * MS, 20 * MS },
		{ "usertime", 10 * MS, 8 << 20, 20 * MS, 20 * MS },
		/* No stacks. */
		{ "pcsamp", MS / 10, 8 << 20, 20 * MS, 20 * MS },
		/* 20 KB each, and as much of mappings. */
		{ "usertime", MS, 512 << 10, 4 * MS, 5 * MS },
		{ "usertime", MS / 4, 512 << 10, 0, 0 },
		{ "usertime", MS, 64 << 10, 0, 0 },
		/* Whatever is not at its own time may come all at once. */
		{ "faults", 1, 32 << 20, 0, 0 },
		{ "totaltime", 10 * MS, 8 << 20, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;

		init(&f, cases[i].experiment, cases[i].interval_ns, cases[i].ring_bytes);
		assert_in_range(rest_ns(&f), cases[i].least_ns, cases[i].most_ns);
	}
}

static void whoever_has_no_children_is_waited_for(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, "usertime", MS, 8 << 20);
	f.scope.kind = SCOPE_THREADS;
	assert_int_equal(rest_ns(&f), 0);
	init(&f, "usertime", MS, 8 << 20);
	f.scope.kind = SCOPE_CPUS;
	assert_int_equal(rest_ns(&f), 0);
}

static void put_ring(struct fixture *f, struct perf_event_mmap_page *page, size_t bytes)
{
	*vec_push(&f->files.cpus) =
		(struct perf_cpu){ .ring = { .page = page, .size = bytes } };
}

/* Who may not lock more memory has smaller ones than were wanted. */
static void the_smallest_ring_tells(void **state)
{
	struct perf_event_mmap_page page;
	struct fixture f;

	(void)state;
	init(&f, "usertime", MS, 8 << 20);
	put_ring(&f, &page, 8 << 20);
	put_ring(&f, NULL, 0); /* of a CPU that is off */
	assert_int_equal(rest_ns(&f), 20 * MS);
	init(&f, "usertime", MS, 8 << 20);
	put_ring(&f, &page, 8 << 20);
	put_ring(&f, &page, 64 << 10);
	assert_int_equal(rest_ns(&f), 0);
}

static void a_clock_whose_period_changes_has_no_bound(void **state)
{
	struct fixture f;

	(void)state;
	init(&f, "usertime", MS, 8 << 20);
	f.plan.choice.hz = 1000000; /* it would pass for a period */
	assert_int_equal(rest_ns(&f), 0);
}

static void rings_rest_while_threads_end_more_often_than_that(void **state)
{
	const struct {
		uint64_t now_ns, n_ended;
		bool is_pressed, is_on;
	} looks[] = {
		{ 10 * MS, 0, false, true },	{ 89 * MS, 8, false, true },
		{ 90 * MS, 0, false, false }, /* one each 11 ms */
		{ 100 * MS, 9, false, false },	{ 180 * MS, 0, false, true },
		{ 190 * MS, 500, true, false }, /* so much was not expected */
		{ 200 * MS, 0, false, true },	{ 280 * MS, 0, false, true },
		{ 370 * MS, 8, false, false },	{ 470 * MS, 9, false, false },
		{ 570 * MS, 10, false, true },
	};
	struct perf_rest r;

	(void)state;
	perf_rest_begin(&r, 10 * MS, 0);
	assert_true(r.is_on);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		perf_rest_looked(&r, looks[i].now_ns, looks[i].n_ended,
				 looks[i].is_pressed);
		assert_int_equal(r.is_on, looks[i].is_on);
	}
	perf_rest_fini(&r);
}

static void a_rest_ends(void **state)
{
	struct pollfd p = { .events = POLLIN };
	struct perf_rest r;

	(void)state;
	perf_rest_begin(&r, 10 * MS, 0);
	for (int i = 0; i < 2; i++) {
		perf_rest_looked(&r, 0, 1, false);
		assert_true(r.is_on);
		p.fd = r.timer;
		assert_int_equal(poll(&p, 1, -1), 1);
	}
	perf_rest_fini(&r);
}

static void where_no_rest_is_long_enough_there_is_none(void **state)
{
	struct perf_rest r;

	(void)state;
	perf_rest_begin(&r, 0, 0);
	assert_false(r.is_on);
	perf_rest_looked(&r, 100 * MS, 1000, false);
	assert_false(r.is_on);
	perf_rest_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rest_is_as_long_as_the_ring_has_room_for),
		cmocka_unit_test(whoever_has_no_children_is_waited_for),
		cmocka_unit_test(the_smallest_ring_tells),
		cmocka_unit_test(a_clock_whose_period_changes_has_no_bound),
		cmocka_unit_test(rings_rest_while_threads_end_more_often_than_that),
		cmocka_unit_test(a_rest_ends),
		cmocka_unit_test(where_no_rest_is_long_enough_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
