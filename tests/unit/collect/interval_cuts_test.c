/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/interval_cuts.h"

#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/gauge.h"
#include "store/recording.h"
#include "store/writer.h"

#define BEGIN_NS 100

struct fixture {
	char path[64];
	struct writer *writer;
	struct interval_cuts cuts;
	struct recording *recording;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->path, sizeof(f->path), "/tmp/interval_cuts_test.%d.dwell", getpid());
	if (writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL) < 0)
		return -1;
	interval_cuts_begin(&f->cuts, f->writer, BEGIN_NS);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	interval_cuts_fini(&f->cuts);
	recording_free(f->recording);
	writer_free(f->writer);
	unlink(f->path);
	free(f);
	return 0;
}

/* With one gauge, of that value. */
static void cut(struct fixture *f, uint64_t time_ns, const char *name, uint64_t value)
{
	const struct gauge gauge = { .time_ns = time_ns, .pid = 7, .value = value };

	assert_true(interval_cuts_may_end(&f->cuts, time_ns));
	interval_cuts_add(&f->cuts, time_ns, "program", name, &gauge, 1);
}

static void finish(struct fixture *f)
{
	interval_cuts_settle(&f->cuts, UINT64_MAX);
	assert_int_equal(writer_close(f->writer, NULL), 0);
	f->writer = NULL;
	assert_int_equal(recording_open(f->path, &f->recording, NULL), 0);
}

static void check_interval(const struct fixture *f, uint32_t i, uint64_t from_ns,
			   uint64_t to_ns, const char *name)
{
	const struct model_interval *v = recording_interval(f->recording, i);

	assert_non_null(v);
	assert_int_equal(v->from_ns, from_ns);
	assert_int_equal(v->to_ns, to_ns);
	assert_string_equal(recording_string(f->recording, v->name), name);
}

static int keep_gauge(void *ctx, const struct gauge *g, struct err *e)
{
	uint64_t **at = ctx;

	(void)e;
	*(*at)++ = g->time_ns;
	*(*at)++ = g->value;
	return 0;
}

static void an_end_that_is_heard_of_late_cuts_the_interval_that_it_is_in(void **state)
{
	static const uint64_t want[] = { 200, 20, 300, 40, 350, 40, 400, 40 };
	struct fixture *f = *state;
	uint64_t gauges[8] = { 0 }, *at = gauges;

	cut(f, 200, "a", 20);
	cut(f, 400, "d", 40);
	assert_true(interval_cuts_is_behind(&f->cuts, 300));
	assert_false(interval_cuts_is_behind(&f->cuts, 400));
	/* What was counted by then is that of the next end, as nobody looked. */
	interval_cuts_add(&f->cuts, 350, "program", "c", NULL, 0);
	interval_cuts_add(&f->cuts, 300, "program", "b", &(struct gauge){ .value = 99 },
			  1);
	finish(f);
	assert_int_equal(recording_n_intervals(f->recording), 4);
	check_interval(f, 0, BEGIN_NS, 200, "a");
	check_interval(f, 1, 200, 300, "b");
	check_interval(f, 2, 300, 350, "c");
	check_interval(f, 3, 350, 400, "d");
	assert_int_equal(recording_each_gauge(f->recording, keep_gauge, &at, NULL), 0);
	assert_memory_equal(gauges, want, sizeof(want));
}

static void what_has_settled_is_not_cut_any_more(void **state)
{
	struct fixture *f = *state;

	assert_false(interval_cuts_may_end(&f->cuts, BEGIN_NS));
	cut(f, 200, "a", 0);
	cut(f, 300, "b", 0);
	interval_cuts_settle(&f->cuts, 300);
	assert_false(interval_cuts_may_end(&f->cuts, 200));
	assert_true(interval_cuts_may_end(&f->cuts, 201));
	cut(f, 250, "between", 0);
	finish(f);
	check_interval(f, 1, 200, 250, "between");
	check_interval(f, 2, 250, 300, "b");
}

static void ends_at_one_time_keep_their_order(void **state)
{
	struct fixture *f = *state;

	cut(f, 200, "first", 0);
	cut(f, 200, "second", 0);
	finish(f);
	check_interval(f, 0, BEGIN_NS, 200, "first");
	check_interval(f, 1, 200, 200, "second");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_end_that_is_heard_of_late_cuts_the_interval_that_it_is_in),
		TEST(what_has_settled_is_not_cut_any_more),
		TEST(ends_at_one_time_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
