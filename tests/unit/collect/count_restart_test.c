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
#define EPOLL	 232
#define BEHIND	 0x1002
#define THE_CALL 0x1000

static void check(int64_t call, int64_t result, bool is_again, int64_t number)
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
	check(READ, -512, true, READ);
	check(WRITE, -513, true, WRITE);
	check(EPOLL, -514, true, EPOLL);
}

static void of_what_has_a_time_only_the_rest_is_waited_for(void **state)
{
	(void)state;
	check(POLL, -516, true, COUNT_RESTART_REST);
	check(NANO, -516, true, COUNT_RESTART_REST);
}

static void calls_that_only_say_that_they_were_stopped_are_made_again(void **state)
{
	(void)state;
	check(EPOLL, -EINTR, true, EPOLL);
	check(READ, -EINTR, true, READ);
	check(CONNECT, -EINTR, false, 0); /* it has begun */
	check(WRITE, -EINTR, false, 0);
}

static void what_has_a_result_keeps_it(void **state)
{
	(void)state;
	check(READ, 17, false, 0);
	check(READ, -EAGAIN, false, 0);
	check(READ, -515, false, 0);
}

static void outside_of_calls_registers_are_the_programs(void **state)
{
	(void)state;
	check(-1, -512, false, 0);
	check(-1, -516, false, 0);
	check(-1, -EINTR, false, 0);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
