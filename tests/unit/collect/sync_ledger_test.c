/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collect/sync_ledger.h"

#define LOCK 0x1000

static void wait(struct sync_ledger *l, uint64_t from_ns, uint64_t to_ns, uint32_t stack)
{
	sync_ledger_wait(l, &(struct sync_wait){ .time_ns = to_ns,
						 .waited_ns = to_ns - from_ns,
						 .address = LOCK,
						 .stack = stack,
						 .what = WIRE_TRACER_MUTEX });
}

static uint64_t debt(const struct sync_ledger *l, uint32_t stack)
{
	uint64_t ns = 0;

	vec_each(x, &l->debts)
		ns += x->stack == stack ? x->ns : 0;
	return ns;
}

static void waits_of_one_place_for_one_thing_are_summed(void **state)
{
	struct sync_ledger l = { 0 };

	(void)state;
	wait(&l, 100, 400, 1);
	wait(&l, 500, 1000, 1);
	wait(&l, 500, 600, 2);
	assert_int_equal(l.sites.n, 2);
	assert_int_equal(l.sites.at[0].n, 2);
	assert_int_equal(l.sites.at[0].ns, 800);
	/* 300 and 500 ns: both from 256 on. */
	assert_int_equal(l.sites.at[0].steps[9], 2);
	assert_int_equal(sync_ledger_least(9), 256);
	assert_int_equal(l.sites.at[1].steps[7], 1);
	assert_int_equal(l.debts.n, 0);
	sync_ledger_fini(&l);
}

static void each_holder_is_charged_until_his_release(void **state)
{
	struct sync_ledger l = { 0 };

	(void)state;
	sync_ledger_release(&l, 50, LOCK, 9); /* before: not his */
	sync_ledger_release(&l, 300, LOCK, 7);
	sync_ledger_release(&l, 900, LOCK, 8);
	wait(&l, 100, 1000, 1);
	assert_int_equal(debt(&l, 7), 200);
	assert_int_equal(debt(&l, 8), 700);
	assert_int_equal(debt(&l, 9), 0);
	/* What ended the wait is counted. */
	assert_int_equal(l.debts.n, 2);
	assert_int_equal(l.debts.at[0].n + l.debts.at[1].n, 1);
	sync_ledger_fini(&l);
}

static void a_release_of_another_lock_is_nobodys(void **state)
{
	struct sync_ledger l = { 0 };

	(void)state;
	sync_ledger_release(&l, 300, LOCK + 8, 7);
	wait(&l, 100, 1000, 1);
	assert_int_equal(l.debts.n, 0);
	sync_ledger_fini(&l);
}

static void who_woke_last_is_charged_for_all(void **state)
{
	struct sync_ledger l = { 0 };
	struct sync_wait w = { .time_ns = 1000,
			       .waited_ns = 900,
			       .address = LOCK,
			       .stack = 1,
			       .what = WIRE_TRACER_CONDITION };

	(void)state;
	sync_ledger_release(&l, 300, LOCK, 7);
	sync_ledger_release(&l, 900, LOCK, 8);
	sync_ledger_wait(&l, &w);
	assert_int_equal(debt(&l, 7), 0);
	assert_int_equal(debt(&l, 8), 900);
	sync_ledger_fini(&l);
}

static void what_was_before_all_that_is_remembered_is_nobodys(void **state)
{
	struct sync_ledger l = { 0 };
	uint64_t n = SYNC_LEDGER_RELEASES + 10, sum = 0;

	(void)state;
	for (uint64_t i = 1; i <= n; i++)
		sync_ledger_release(&l, 1000 + 10 * i, LOCK, 7);
	wait(&l, 1000, 1000 + 10 * n, 1);
	vec_each(x, &l.debts)
		sum += x->ns;
	assert_int_equal(sum, 10 * (SYNC_LEDGER_RELEASES - 1));
	sync_ledger_fini(&l);
}

static void sums_begin_anew_and_releases_stay(void **state)
{
	struct sync_ledger l = { 0 };

	(void)state;
	sync_ledger_release(&l, 300, LOCK, 7);
	wait(&l, 100, 400, 1);
	sync_ledger_clear(&l);
	assert_int_equal(l.sites.n + l.debts.n, 0);
	wait(&l, 200, 500, 2);
	assert_int_equal(l.sites.n, 1);
	assert_int_equal(debt(&l, 7), 300);
	assert_int_equal(l.n_waits, 2);
	sync_ledger_fini(&l);
}

static void clocks_that_disagree_charge_nothing_below_0(void **state)
{
	struct sync_ledger l = { 0 };

	(void)state;
	sync_ledger_release(&l, 900, LOCK, 7);
	sync_ledger_release(&l, 800, LOCK, 8);
	wait(&l, 100, 850, 1);
	assert_true(debt(&l, 7) + debt(&l, 8) <= 800);
	sync_ledger_fini(&l);
}

static void what_goes_on_has_its_time_and_is_not_counted(void **state)
{
	struct sync_ledger l = { 0 };
	const struct sync_wait w = { .time_ns = 900,
				     .waited_ns = 600,
				     .address = LOCK,
				     .stack = 1,
				     .what = WIRE_TRACER_MUTEX };

	(void)state;
	sync_ledger_release(&l, 350, LOCK, 7);
	wait(&l, 100, 400, 1);
	sync_ledger_wait_on(&l, &w);
	assert_int_equal(l.sites.n, 1);
	assert_int_equal(l.sites.at[0].n, 1);
	assert_int_equal(l.sites.at[0].ns, 900);
	assert_int_equal(l.n_waits, 1);
	assert_int_equal(debt(&l, 7), 300);
	sync_ledger_fini(&l);
}

static void a_release_is_known_for_as_long_as_it_is_the_last(void **state)
{
	struct sync_ledger l = { 0 };

	(void)state;
	assert_false(sync_ledger_was_released(&l, LOCK, 0));
	sync_ledger_release(&l, 300, LOCK, 7);
	assert_true(sync_ledger_was_released(&l, LOCK, 299));
	assert_false(sync_ledger_was_released(&l, LOCK, 300));
	assert_false(sync_ledger_was_released(&l, LOCK + 8, 299));
	sync_ledger_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_of_one_place_for_one_thing_are_summed),
		cmocka_unit_test(each_holder_is_charged_until_his_release),
		cmocka_unit_test(a_release_of_another_lock_is_nobodys),
		cmocka_unit_test(who_woke_last_is_charged_for_all),
		cmocka_unit_test(what_was_before_all_that_is_remembered_is_nobodys),
		cmocka_unit_test(sums_begin_anew_and_releases_stay),
		cmocka_unit_test(what_goes_on_has_its_time_and_is_not_counted),
		cmocka_unit_test(a_release_is_known_for_as_long_as_it_is_the_last),
		cmocka_unit_test(clocks_that_disagree_charge_nothing_below_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
