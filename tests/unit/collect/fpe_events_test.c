/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/fpe_events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define N_MOST (5 * FPE_EVENTS_WAITING)

struct given {
	size_t n;
	struct fpe_event events[N_MOST];
};

static void keep(void *ctx, const struct fpe_event *event)
{
	struct given *g = ctx;

	assert_true(g->n < N_MOST);
	g->events[g->n++] = *event;
}

static void add(struct fpe_events *e, uint64_t time_ns, uint32_t stack, uint32_t types,
		struct given *g)
{
	fpe_events_add(
		e,
		&(struct fpe_event){ .time_ns = time_ns, .stack = stack, .types = types },
		keep, g);
}

static void all_are_given_in_their_order(void **state)
{
	static struct given g;
	struct fpe_events e = { 0 };

	(void)state;
	g.n = 0;
	for (uint64_t i = 0; i < N_MOST; i++)
		add(&e, i, (uint32_t)i % 7, 1, &g);
	fpe_events_finish(&e, keep, &g);
	assert_int_equal(g.n, N_MOST);
	for (uint64_t i = 0; i < N_MOST; i++)
		assert_int_equal(g.events[i].time_ns, i);
}

static void what_turns_out_to_be_of_other_types_is_given_so(void **state)
{
	static struct given g;
	struct fpe_events e = { 0 };

	(void)state;
	g.n = 0;
	add(&e, 1, 5, 4, &g);
	add(&e, 2, 6, 4, &g);
	add(&e, 3, 5, 4, &g);
	add(&e, 4, 6, 1, &g);
	fpe_events_correct(&e, 5, 4, 8); /* the last of that stack */
	fpe_events_correct(&e, 6, 1, 0); /* was not */
	fpe_events_correct(&e, 7, 1, 2); /* nobody's */
	fpe_events_finish(&e, keep, &g);
	assert_int_equal(g.n, 3);
	assert_int_equal(g.events[0].types, 4);
	assert_int_equal(g.events[1].types, 4);
	assert_int_equal(g.events[2].time_ns, 3);
	assert_int_equal(g.events[2].types, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_given_in_their_order),
		cmocka_unit_test(what_turns_out_to_be_of_other_types_is_given_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
