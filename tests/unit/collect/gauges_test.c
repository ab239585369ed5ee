/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/gauges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/writer.h"

#define BEGIN_NS 1000
#define EVERY_NS 100

struct fixture {
	char path[64];
	struct writer *writer;
	struct gauges *gauges;
};

static int set_up(struct fixture *f, uint64_t every_ns)
{
	struct gauges_settings settings = { .every_ns = every_ns };

	snprintf(f->path, sizeof(f->path), "/tmp/gauges_test.%d.dwell", getpid());
	if (writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL) < 0)
		return -1;
	settings.writer = f->writer;
	f->gauges = gauges_new(&settings, BEGIN_NS);
	return 0;
}

static void tear_down(struct fixture *f)
{
	gauges_finish(f->gauges);
	gauges_free(f->gauges);
	assert_int_equal(writer_close(f->writer, NULL), 0);
	unlink(f->path);
}

static void the_timer_waits_until_what_it_costs_is_little(void **state)
{
	static const struct {
		uint64_t took_ns, due_ns; /* behind the end */
	} t[] = {
		{ 0, EVERY_NS }, { 5, EVERY_NS }, { 6, 120 },
		{ 50, 1000 },	 { 1, EVERY_NS }, /* it was the last one that took long */
	};
	struct fixture f;
	uint64_t now_ns = BEGIN_NS;

	(void)state;
	assert_int_equal(set_up(&f, EVERY_NS), 0);
	assert_int_equal(gauges_due_ns(f.gauges), BEGIN_NS + EVERY_NS);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		now_ns = gauges_due_ns(f.gauges);
		assert_true(gauges_are_due(f.gauges, now_ns));
		assert_true(gauges_cut(f.gauges, now_ns, "timer", ""));
		gauges_spare(f.gauges, t[i].took_ns);
		assert_int_equal(gauges_due_ns(f.gauges), now_ns + t[i].due_ns);
		assert_false(gauges_are_due(f.gauges, now_ns + t[i].due_ns - 1));
	}
	tear_down(&f);
}

static void a_mark_waits_for_nothing(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(set_up(&f, EVERY_NS), 0);
	gauges_spare(f.gauges, 50);
	assert_true(gauges_cut(f.gauges, BEGIN_NS + 1, "ctl", "one"));
	assert_int_equal(gauges_due_ns(f.gauges), BEGIN_NS + 1 + EVERY_NS);
	tear_down(&f);
}

static void without_a_timer_nothing_is_due(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(set_up(&f, 0), 0);
	gauges_spare(f.gauges, 50);
	assert_int_equal(gauges_due_ns(f.gauges), 0);
	assert_false(gauges_are_due(f.gauges, UINT64_MAX));
	tear_down(&f);
	gauges_spare(NULL, 50); /* of a recording without times */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_timer_waits_until_what_it_costs_is_little),
		cmocka_unit_test(a_mark_waits_for_nothing),
		cmocka_unit_test(without_a_timer_nothing_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
