/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_restart.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define READ	 0
#define WRITE	 1
#define POLL	 7
#define NANO	 35
#define CONNECT	 42
#define SENDMSG	 46
#define EPOLL	 232
#define RECVMMSG 299
#define URING	 426
#define BEHIND	 0x1002
#define THE_CALL 0x1000

static void check(int64_t call, int64_t result, enum count_control_call is_again,
		  int64_t number)
{
	struct count_restart r = { .result = result, .call = call, .ip = BEHIND };

	assert_int_equal(count_restart(&r), is_again);
	assert_int_equal(r.ip, is_again ? THE_CALL : BEHIND);
	assert_int_equal(r.result, is_again ? number : result);
	assert_int_equal(r.call, is_again ? -1 : call);
}

static void what_the_kernel_would_make_again_is_made_again(void **state)
{
	(void)state;
	check(READ, -512, COUNT_CALL_UNLESS_FLAG, READ);
	check(WRITE, -513, COUNT_CALL_AGAIN, WRITE);
	check(EPOLL, -514, COUNT_CALL_ENDS, EPOLL);
}

static void of_what_has_a_time_only_the_rest_is_waited_for(void **state)
{
	(void)state;
	check(POLL, -516, COUNT_CALL_ENDS, COUNT_RESTART_REST);
	check(NANO, -516, COUNT_CALL_ENDS, COUNT_RESTART_REST);
}

static void calls_that_only_say_that_they_were_stopped_are_made_again(void **state)
{
	(void)state;
	check(EPOLL, -EINTR, COUNT_CALL_ENDS, EPOLL);
	check(READ, -EINTR, COUNT_CALL_ENDS, READ);
	check(SENDMSG, -EINTR, COUNT_CALL_ENDS, SENDMSG);
	check(RECVMMSG, -EINTR, COUNT_CALL_ENDS, RECVMMSG);
	check(URING, -EINTR, COUNT_CALL_ENDS, URING);
	check(CONNECT, -EINTR, COUNT_CALL_NONE, 0); /* it has begun */
	check(WRITE, -EINTR, COUNT_CALL_NONE, 0);
}

static void what_has_a_result_keeps_it(void **state)
{
	(void)state;
	check(READ, 17, COUNT_CALL_NONE, 0);
	check(READ, -EAGAIN, COUNT_CALL_NONE, 0);
	check(READ, -515, COUNT_CALL_NONE, 0);
}

static void outside_of_calls_registers_are_the_programs(void **state)
{
	(void)state;
	check(-1, -512, COUNT_CALL_NONE, 0);
	check(-1, -516, COUNT_CALL_NONE, 0);
	check(-1, -EINTR, COUNT_CALL_NONE, 0);
}

static void the_kernel_can_be_told_to_do_it(void **state)
{
	struct count_restart r = { .result = -516, .call = POLL, .ip = BEHIND };
	struct count_restart other = { .result = -EINTR, .call = EPOLL, .ip = BEHIND };

	(void)state;
	assert_int_equal(count_restart(&r), COUNT_CALL_ENDS);
	assert_int_equal(r.kernels, -516);
	assert_int_equal(r.number, POLL);
	assert_int_equal(count_restart(&other), COUNT_CALL_ENDS);
	assert_int_equal(other.kernels, -514); /* which ends for a handler alone */
	assert_int_equal(other.number, EPOLL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_kernel_would_make_again_is_made_again),
		cmocka_unit_test(of_what_has_a_time_only_the_rest_is_waited_for),
		cmocka_unit_test(
			calls_that_only_say_that_they_were_stopped_are_made_again),
		cmocka_unit_test(what_has_a_result_keeps_it),
		cmocka_unit_test(outside_of_calls_registers_are_the_programs),
		cmocka_unit_test(the_kernel_can_be_told_to_do_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
