/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "analyze/heap_growth.h"
#include "recording_builder.h"

#define PATH "heap_growth_test.dwell"

#define EVENT(name) "event " name " unit=bytes period=0 experiment=heap flags=exact\n"

/* What is estimated to have been given back of b is more than what was taken. */
static const char two_places[] = EVENT("leaked-bytes") EVENT("allocated-bytes")
	EVENT("allocations") "interval 100 200 first cause=program\n"
			     "interval 200 300 second cause=program\n"
			     "use event=allocated-bytes time=100 step=0\n"
			     "main;a weight=1000\n"
			     "main;b weight=200\n"
			     "use event=allocations time=100 step=0\n"
			     "main;a weight=10\n"
			     "main;b weight=2\n"
			     "trace-type given event=leaked-bytes taken-from:u64 "
			     "given-blocks:u64 "
			     "given:bytes\n"
			     "trace given main;a time=100 taken-from=100 given-blocks=4 "
			     "given=400\n"
			     "trace given main;b time=100 taken-from=100 given-blocks=5 "
			     "given=700\n";

/* Two calls of a in main, of which nobody knows lines, and what is called by one more. */
static const char calls[] = EVENT("leaked-bytes") EVENT("allocated-bytes")
	EVENT("allocations") "interval 100 200 first cause=program\n"
			     "interval 200 300 second cause=program\n"
			     "use event=allocated-bytes time=100 step=0\n"
			     "main+0x10;a weight=300\n"
			     "b;a weight=350\n"
			     "main+0x30;a weight=100\n"
			     "use event=allocations time=100 step=0\n"
			     "main+0x10;a weight=3\n"
			     "b;a weight=1\n"
			     "main+0x30;a weight=1\n"
			     "trace-type given event=leaked-bytes taken-from:u64 "
			     "given-blocks:u64 "
			     "given:bytes\n"
			     "trace given main+0x30;a time=100 taken-from=50 "
			     "given-blocks=1 given=70\n"
			     "trace given main+0x10;a time=100 taken-from=100 "
			     "given-blocks=2 given=20\n";

static const struct heap_between all = { { 100, 0, "" }, { 300, 2, "second" } };

static int load(const char *text, const char *filter, struct heap_growth *g,
		struct err *e)
{
	own(profile_freep) struct profile *p = NULL;
	const char *paths[] = { PATH };
	int rc;

	recording_builder_write(PATH, text);
	rc = profile_load(paths, 1, &(struct profile_options){ .filter = filter }, &p, e);
	assert_int_equal(rc, 0);
	unlink(PATH);
	return heap_growth_load(g, p, &all, 0, e);
}

static void the_total_is_the_sum_of_what_places_kept(void **state)
{
	struct heap_growth g = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(load(two_places, NULL, &g, &e), 0);
	assert_int_equal(g.all.n, 2);
	assert_int_equal(g.all.at[0].kept_bytes, 600);
	assert_int_equal(g.all.at[0].kept_blocks, 6);
	assert_int_equal(g.all.at[1].kept_bytes, 0);
	assert_int_equal(g.all.at[1].kept_blocks, 0);
	assert_int_equal(g.total.kept_bytes, 600);
	assert_int_equal(g.total.kept_blocks, 6);
	assert_int_equal(heap_growth_net_bytes(&g.total), 100);
	heap_growth_fini(&g);
}

static void stacks_that_look_alike_are_one_place(void **state)
{
	struct heap_growth g = { 0 };
	struct err e = { 0 };
	const struct heap_growth_place *x;

	(void)state;
	assert_int_equal(load(calls, NULL, &g, &e), 0);
	assert_int_equal(g.all.n, 2);
	x = &g.all.at[0];
	assert_int_equal(x->n_frames, 2);
	assert_int_equal(x->kept_bytes, 380);
	assert_int_equal(x->kept_blocks, 2);
	assert_int_equal(x->bytes[HEAP_GROWTH_TAKEN], 400);
	assert_int_equal(x->blocks[HEAP_GROWTH_TAKEN], 4);
	assert_int_equal(x->bytes[HEAP_GROWTH_GIVEN], 90);
	assert_int_equal(x->blocks[HEAP_GROWTH_GIVEN], 3);
	assert_int_equal(x->bytes[HEAP_GROWTH_YOUNG], 20);
	assert_int_equal(heap_growth_net_bytes(x), 310);
	assert_int_equal(g.all.at[1].kept_bytes, 350);
	assert_int_equal(g.total.kept_bytes, 730);
	heap_growth_fini(&g);
}

static void a_filter_asks_for_what_both_sums_have(void **state)
{
	static const struct {
		const char *filter, *refused; /* NULL: it is not */
		size_t n_places;
	} t[] = {
		{ "function == a", NULL, 1 },
		{ "thread != x || experiment == heap || cpu < 8", NULL, 2 },
		{ "function == a && !(mark == second)", "'mark'", 0 },
		{ "interval == 1", "'interval'", 0 },
		{ "time < 1s", "'time'", 0 },
		{ "cause == program", "'cause'", 0 },
		{ "event == allocations", "'event'", 0 },
		{ "weight > 100", "'weight'", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct heap_growth g = { 0 };
		struct err e = { 0 };
		int rc = load(two_places, t[i].filter, &g, &e);

		assert_int_equal(rc, t[i].refused ? ERR_USAGE : 0);
		assert_int_equal(g.all.n, t[i].n_places);
		if (t[i].refused)
			assert_non_null(strstr(e.text, t[i].refused));
		heap_growth_fini(&g);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_total_is_the_sum_of_what_places_kept),
		cmocka_unit_test(stacks_that_look_alike_are_one_place),
		cmocka_unit_test(a_filter_asks_for_what_both_sums_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
