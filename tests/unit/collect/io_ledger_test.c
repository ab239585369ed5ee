/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "collect/io_ledger.h"
#include "wire/tracer_io.h"

static void calls_of_one_place_are_one_sum(void **state)
{
	struct io_ledger l = { 0 };
	struct io_call c = { .stack = 1,
			     .file = 2,
			     .call = WIRE_TRACER_IO_OF_read,
			     .took_ns = 1000,
			     .asked = 4096,
			     .done = 100 };

	(void)state;
	io_ledger_add(&l, &c);
	io_ledger_add(&l, &c);
	c.file = 3;
	io_ledger_add(&l, &c);
	assert_int_equal(l.sums.n, 2);
	assert_int_equal(l.n_calls, 3);
	assert_int_equal(l.sums.at[0].n, 2);
	assert_int_equal(l.sums.at[0].ns, 2000);
	assert_int_equal(l.sums.at[0].asked, 8192);
	assert_int_equal(l.sums.at[0].done, 200);
	assert_int_equal(l.sums.at[0].sizes[7], 2); /* from 64 bytes */
	assert_int_equal(l.sums.at[0].times[3], 2); /* from 512 ns */
	io_ledger_clear(&l);
	io_ledger_add(&l, &c);
	assert_int_equal(l.sums.n, 1);
	io_ledger_fini(&l);
}

static void what_fails_moves_nothing(void **state)
{
	struct io_ledger l = { 0 };
	struct io_call c = {
		.call = WIRE_TRACER_IO_OF_write, .error = EAGAIN, .asked = 5, .done = 99
	};

	(void)state;
	io_ledger_add(&l, &c);
	c.error = EPIPE;
	io_ledger_add(&l, &c);
	io_ledger_add(&l, &c);
	assert_int_equal(l.sums.at[0].n, 3);
	assert_int_equal(l.sums.at[0].done, 0);
	assert_int_equal(l.errors.n, 2);
	assert_int_equal(l.errors.at[0].error, EAGAIN);
	assert_int_equal(l.errors.at[1].n, 2);
	for (unsigned i = 0; i < IO_RECORD_SIZES; i++)
		assert_int_equal(l.sums.at[0].sizes[i], 0);
	io_ledger_fini(&l);
}

static void what_returns_no_bytes_moves_none(void **state)
{
	struct io_ledger l = { 0 };
	struct io_call c = { .call = WIRE_TRACER_IO_OF_lseek, .done = 99, .took_ns = 1 };

	(void)state;
	io_ledger_add(&l, &c);
	assert_int_equal(l.sums.at[0].done, 0);
	assert_int_equal(l.sums.at[0].times[0], 1);
	io_ledger_fini(&l);
}

static void what_has_not_returned_has_its_time(void **state)
{
	struct io_ledger l = { 0 };
	struct io_call c = { .call = WIRE_TRACER_IO_OF_read, .took_ns = 7 };

	(void)state;
	io_ledger_add_time(&l, &c);
	assert_int_equal(l.sums.at[0].ns, 7);
	assert_int_equal(l.sums.at[0].n, 0);
	assert_int_equal(l.n_calls, 0);
	io_ledger_fini(&l);
}

static void sums_know_their_time(void **state)
{
	struct io_ledger l = { 0 };
	struct io_call c = { .call = WIRE_TRACER_IO_OF_read, .time_ns = 20 };

	(void)state;
	io_ledger_add(&l, &c);
	c.time_ns = 30;
	io_ledger_add(&l, &c);
	c.time_ns = 10; /* of another thread */
	io_ledger_add(&l, &c);
	assert_int_equal(l.first_ns, 10);
	assert_int_equal(l.last_ns, 30);
	io_ledger_clear(&l);
	assert_int_equal(l.last_ns, 0);
	io_ledger_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_one_place_are_one_sum),
		cmocka_unit_test(what_fails_moves_nothing),
		cmocka_unit_test(what_returns_no_bytes_moves_none),
		cmocka_unit_test(what_has_not_returned_has_its_time),
		cmocka_unit_test(sums_know_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
