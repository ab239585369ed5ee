/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/cpu_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/cpus.h"

#define EVERY_NS 100

/* What a user was asked for: CPUs, in order. */
struct asked {
	size_t n_opened, n_closed;
	uint32_t opened, closed; /* the last */
	bool refuses;
};

static bool on_open(void *ctx, uint32_t cpu)
{
	struct asked *a = ctx;

	if (a->refuses)
		return false;
	a->n_opened++;
	a->opened = cpu;
	return true;
}

static void on_close(void *ctx, uint32_t cpu)
{
	struct asked *a = ctx;

	a->n_closed++;
	a->closed = cpu;
}

static void begin(struct cpu_watch *w)
{
	*w = (struct cpu_watch){ .every_ns = EVERY_NS };
	assert_int_equal(cpu_watch_begin(w, NULL), 0);
	assert_true(w->open.n > 0);
}

static bool look(struct cpu_watch *w, uint64_t now_ns, struct asked *a)
{
	const struct cpu_watch_user user = { .ctx = a,
					     .open = on_open,
					     .close = on_close };

	return cpu_watch_look(w, now_ns, &user);
}

static void what_stays_is_left_alone(void **state)
{
	struct asked a = { 0 };
	struct cpu_watch w;

	(void)state;
	begin(&w);
	for (uint64_t t = 0; t < 3; t++)
		assert_false(look(&w, t * EVERY_NS, &a));
	assert_int_equal(a.n_opened + a.n_closed + w.n_changes, 0);
	cpu_watch_fini(&w);
}

static void a_cpu_with_another_life_is_closed_and_opened(void **state)
{
	struct asked a = { 0 };
	struct cpu_watch w;
	uint32_t id;

	(void)state;
	begin(&w);
	id = w.open.at[0].id;
	w.open.at[0].life++;
	assert_true(look(&w, EVERY_NS, &a));
	assert_int_equal(a.n_closed, 1);
	assert_int_equal(a.closed, id);
	assert_int_equal(a.n_opened, 1);
	assert_int_equal(a.opened, id);
	assert_int_equal(w.n_changes, 2);
	assert_false(look(&w, 2 * EVERY_NS, &a));
	assert_int_equal(w.n_changes, 2);
	cpu_watch_fini(&w);
}

static void a_cpu_that_is_offline_is_closed_once(void **state)
{
	struct asked a = { 0 };
	struct cpu_watch w;

	(void)state;
	begin(&w);
	*vec_push(&w.open) = (struct cpu_watch_one){ .id = CPUS_MAX - 1 };
	assert_false(look(&w, EVERY_NS, &a));
	assert_false(look(&w, 2 * EVERY_NS, &a));
	assert_int_equal(a.n_closed, 1);
	assert_int_equal(a.closed, CPUS_MAX - 1);
	assert_int_equal(a.n_opened, 0);
	cpu_watch_fini(&w);
}

static void what_cannot_be_opened_yet_is_tried_at_every_look(void **state)
{
	struct asked a = { .refuses = true };
	struct cpu_watch w;
	size_t n;

	(void)state;
	begin(&w);
	n = w.open.n;
	w.open.n = 0;
	assert_false(look(&w, EVERY_NS, &a));
	assert_int_equal(w.n_changes, 0);
	a.refuses = false;
	assert_false(look(&w, 2 * EVERY_NS - 1, &a)); /* too soon */
	assert_true(look(&w, 2 * EVERY_NS, &a));
	assert_int_equal(a.n_opened, n);
	assert_int_equal(w.n_changes, n);
	cpu_watch_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stays_is_left_alone),
		cmocka_unit_test(a_cpu_with_another_life_is_closed_and_opened),
		cmocka_unit_test(a_cpu_that_is_offline_is_closed_once),
		cmocka_unit_test(what_cannot_be_opened_yet_is_tried_at_every_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
