/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/syscall.h>

#include "collect/io_calls.h"
#include "collect/io_steps.h"

static void calls_have_the_numbers_of_this_machine(void **state)
{
	static const struct {
		int number;
		const char *name;
		uint8_t event, file, asks;
	} t[] = {
		{ SYS_read, "read", IO_RECORD_READ, IO_RECORD_FIRST,
		  IO_RECORD_ASKS_THIRD },
		{ SYS_pwritev, "pwritev", IO_RECORD_WRITE, IO_RECORD_FIRST,
		  IO_RECORD_ASKS_PARTS },
		{ SYS_recvmsg, "recvmsg", IO_RECORD_READ, IO_RECORD_FIRST,
		  IO_RECORD_ASKS_MESSAGE },
		{ SYS_sendfile, "sendfile", IO_RECORD_READ, IO_RECORD_SECOND,
		  IO_RECORD_ASKS_FOURTH },
		{ SYS_openat, "openat", IO_RECORD_OTHER, IO_RECORD_OPENED_SECOND,
		  IO_RECORD_ASKS_NONE },
		{ SYS_close, "close", IO_RECORD_OTHER, IO_RECORD_FIRST,
		  IO_RECORD_ASKS_NONE },
	};
	struct io_record_call calls[IO_RECORD_CALLS_MAX];

	(void)state;
	io_calls_number(calls, false);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct io_record_call c = calls[t[i].number];

		assert_string_equal(io_calls_name(c.index), t[i].name);
		assert_int_equal(c.event, t[i].event);
		assert_int_equal(c.file, t[i].file);
		assert_int_equal(c.asks, t[i].asks);
	}
	assert_int_equal(calls[SYS_getppid].index, 0);
	assert_int_equal(calls[IO_RECORD_CALLS_MAX - 1].index, 0);
	assert_null(io_calls_name(0));
	assert_null(io_calls_name(255));
}

static void steps_are_called_by_the_least_in_them(void **state)
{
	struct io_steps s;

	(void)state;
	io_steps_name(&s);
	assert_string_equal(s.sizes[0], "[from 0 bytes]");
	assert_string_equal(s.sizes[1], "[from 1 bytes]");
	assert_string_equal(s.sizes[13], "[from 4096 bytes]");
	assert_string_equal(s.times[0], "[from 0 ns]");
	assert_string_equal(s.times[1], "[from 128 ns]");
	assert_string_equal(s.times[2], "[from 256 ns]");
}

static void sums_beyond_the_room_have_nothing_beside_them(void **state)
{
	uint32_t last = IO_RECORD_MORE_HALF - 1;

	(void)state;
	assert_int_equal(io_record_more_slot(STATE_RECORD_NUMBER(0, 1)), 1);
	assert_int_equal(io_record_more_slot(STATE_RECORD_NUMBER(1, 1)),
			 IO_RECORD_MORE_HALF + 1);
	assert_int_equal(io_record_more_slot(STATE_RECORD_NUMBER(2, last)), last);
	assert_int_equal(io_record_more_slot(STATE_RECORD_NUMBER(2, last + 1)),
			 IO_RECORD_MORE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_the_numbers_of_this_machine),
		cmocka_unit_test(steps_are_called_by_the_least_in_them),
		cmocka_unit_test(sums_beyond_the_room_have_nothing_beside_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
