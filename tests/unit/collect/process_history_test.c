/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/process_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PID 7

#define FORK PROCESS_HISTORY_FORK
#define EXEC PROCESS_HISTORY_EXEC

/* As the tracker does: what nobody has told of is new.  Returns the id. */
static uint32_t tell(struct process_history *h, unsigned teller,
		     enum process_history_origin origin, uint32_t name, uint64_t time_ns)
{
	struct process_history_entry *e =
		process_history_claim(h, PID, teller, origin, name, time_ns);

	if (!e)
		e = process_history_add(h, PID,
					&(struct process_history_entry){
						.id = 100 + (uint32_t)h->all.n,
						.name = name,
						.origin = origin,
						.start_ns = time_ns,
						.tellers = UINT32_C(1) << teller });
	assert_ptr_equal(process_history_told(h, PID, teller), e);
	return e->id;
}

static void what_one_tells_is_new_each_time(void **state)
{
	struct process_history h = { 0 };

	(void)state;
	assert_null(process_history_told(&h, PID, 0));
	assert_int_equal(tell(&h, 0, FORK, 0, 10), 100);
	assert_int_equal(tell(&h, 0, EXEC, 1, 10), 101);
	assert_int_equal(tell(&h, 0, EXEC, 1, 10), 102);
	assert_int_equal(tell(&h, 0, FORK, 0, 10), 103);
	process_history_fini(&h);
}

static void a_second_one_tells_the_same_later(void **state)
{
	struct process_history h = { 0 };

	(void)state;
	tell(&h, 0, FORK, 0, 10);
	tell(&h, 0, EXEC, 1, 20);
	tell(&h, 0, EXEC, 2, 30);
	assert_int_equal(tell(&h, 1, FORK, 0, 12), 100);
	assert_int_equal(tell(&h, 1, EXEC, 1, 22), 101);
	assert_int_equal(tell(&h, 1, EXEC, 2, 35), 102);
	assert_int_equal(tell(&h, 1, EXEC, 2, 40), 103);
	assert_int_equal(h.all.n, 4);
	process_history_fini(&h);
}

static void or_before_the_first_does(void **state)
{
	struct process_history h = { 0 };

	(void)state;
	tell(&h, 1, EXEC, 1, 22);
	tell(&h, 1, EXEC, 1, 32);
	assert_int_equal(tell(&h, 0, EXEC, 1, 20), 100);
	assert_int_equal(tell(&h, 0, EXEC, 1, 30), 101);
	process_history_fini(&h);
}

static void programs_that_one_does_not_see_are_left_out(void **state)
{
	struct process_history h = { 0 };

	(void)state;
	tell(&h, 0, FORK, 0, 10);
	tell(&h, 0, EXEC, 1, 20);
	tell(&h, 0, EXEC, 2, 30);
	tell(&h, 0, EXEC, 1, 40);
	/* By time, where it is the same program again. */
	assert_int_equal(tell(&h, 1, EXEC, 1, 42), 103);
	/* The other pid of that number. */
	tell(&h, 0, FORK, 0, 50);
	assert_int_equal(tell(&h, 1, FORK, 0, 51), 104);
	process_history_fini(&h);
}

static uint32_t then(struct process_history *h, uint32_t name, uint64_t time_s)
{
	const struct process_history_entry *e =
		process_history_then(h, PID, name, time_s * UINT64_C(1000000000));

	return e ? e->id : 0;
}

static void what_ran_then_had_that_name(void **state)
{
	struct process_history h = { 0 };
	const uint64_t second_ns = UINT64_C(1000000000);

	(void)state;
	assert_int_equal(then(&h, 1, 15), 0);
	tell(&h, 0, FORK, 1, 10 * second_ns);
	tell(&h, 0, EXEC, 2, 20 * second_ns);
	tell(&h, 0, EXEC, 1, 30 * second_ns);
	assert_int_equal(then(&h, 1, 15), 100);
	assert_int_equal(then(&h, 2, 25), 101);
	assert_int_equal(then(&h, 1, 35), 102);
	/* It was told of a little late. */
	assert_int_equal(then(&h, 1, 9), 100);
	assert_int_equal(then(&h, 2, 20), 101);
	/* Renamed long after; or an exec that is yet to be told. */
	assert_int_equal(then(&h, 3, 39), 102);
	assert_int_equal(then(&h, 3, 30), 0);
	process_history_fini(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_tells_is_new_each_time),
		cmocka_unit_test(a_second_one_tells_the_same_later),
		cmocka_unit_test(or_before_the_first_does),
		cmocka_unit_test(programs_that_one_does_not_see_are_left_out),
		cmocka_unit_test(what_ran_then_had_that_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
