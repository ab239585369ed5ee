/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/io_uring.h>
#include <string.h>

#include "collect/io_calls.h"
#include "collect/io_requests.h"

static void operations_have_the_numbers_of_the_kernel(void **state)
{
	static const struct {
		int number;
		const char *name;
		uint8_t event, file, asks, shots;
	} t[] = {
		{ IORING_OP_READ, "read", IO_RECORD_READ, IO_RECORD_REQUEST_FIRST,
		  IO_RECORD_REQUEST_ASKS_BYTES, IO_RECORD_REQUEST_ONCE },
		{ IORING_OP_WRITEV, "writev", IO_RECORD_WRITE, IO_RECORD_REQUEST_FIRST,
		  IO_RECORD_REQUEST_ASKS_PARTS, IO_RECORD_REQUEST_ONCE },
		{ IORING_OP_READ_FIXED, "read_fixed", IO_RECORD_READ,
		  IO_RECORD_REQUEST_FIRST, IO_RECORD_REQUEST_ASKS_BYTES,
		  IO_RECORD_REQUEST_ONCE },
		{ IORING_OP_RECV, "recv", IO_RECORD_READ, IO_RECORD_REQUEST_FIRST,
		  IO_RECORD_REQUEST_ASKS_PACKET, IO_RECORD_REQUEST_SHOTS_ASKED },
		{ IORING_OP_SENDMSG, "sendmsg", IO_RECORD_WRITE, IO_RECORD_REQUEST_FIRST,
		  IO_RECORD_REQUEST_ASKS_MESSAGE, IO_RECORD_REQUEST_ONCE },
		{ IORING_OP_ACCEPT, "accept", IO_RECORD_OTHER, IO_RECORD_REQUEST_FIRST,
		  IO_RECORD_REQUEST_ASKS_NONE, IO_RECORD_REQUEST_SHOTS },
		{ IORING_OP_OPENAT2, "openat2", IO_RECORD_OTHER, IO_RECORD_REQUEST_OPENED,
		  IO_RECORD_REQUEST_ASKS_NONE, IO_RECORD_REQUEST_ONCE },
		{ IORING_OP_CLOSE, "close", IO_RECORD_OTHER, IO_RECORD_REQUEST_CLOSED,
		  IO_RECORD_REQUEST_ASKS_NONE, IO_RECORD_REQUEST_ONCE },
		{ IORING_OP_SPLICE, "splice", IO_RECORD_READ, IO_RECORD_REQUEST_SPLICED,
		  IO_RECORD_REQUEST_ASKS_SPLICED, IO_RECORD_REQUEST_ONCE },
		{ IORING_OP_FSYNC, "fsync", IO_RECORD_OTHER, IO_RECORD_REQUEST_FIRST,
		  IO_RECORD_REQUEST_ASKS_NONE, IO_RECORD_REQUEST_ONCE },
		{ IORING_OP_SHUTDOWN, "shutdown", IO_RECORD_OTHER,
		  IO_RECORD_REQUEST_FIRST, IO_RECORD_REQUEST_ASKS_NONE,
		  IO_RECORD_REQUEST_ONCE },
	};
	struct io_record_request all[IO_RECORD_REQUESTS_MAX];

	(void)state;
	io_requests_number(all, 100);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct io_record_request r = all[t[i].number];

		assert_int_equal(r.index, 100 + t[i].number);
		assert_string_equal(io_requests_name(r.index - 100u), t[i].name);
		assert_int_equal(r.event, t[i].event);
		assert_int_equal(r.file, t[i].file);
		assert_int_equal(r.asks, t[i].asks);
		assert_int_equal(r.shots, t[i].shots);
	}
	assert_int_equal(all[IORING_OP_NOP].index, 0);
	assert_int_equal(all[IORING_OP_TIMEOUT].index, 0);
	assert_null(io_requests_name(IORING_OP_NOP));
	assert_null(io_requests_name(IO_RECORD_REQUESTS_MAX));
}

static void labels_tell_calls_and_requests_apart(void **state)
{
	static const struct {
		uint32_t index;
		const char *label;
	} t[] = {
		{ 1, "[syscall read]" },
		{ IO_CALLS_REQUESTS + IORING_OP_READ, "[io_uring read]" },
		{ IO_CALLS_REQUESTS, "[io_uring ?]" },
		{ 0, "[syscall ?]" },
		{ 255, "[io_uring ?]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char label[40];

		io_calls_label(t[i].index, label, sizeof(label));
		assert_string_equal(label, t[i].label);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_have_the_numbers_of_the_kernel),
		cmocka_unit_test(labels_tell_calls_and_requests_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
