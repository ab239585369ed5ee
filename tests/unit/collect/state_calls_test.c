/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/syscall.h>

#include "collect/state_calls.h"

static void calls_that_wait_have_the_state_of_what_they_wait_for(void **state)
{
	static const struct {
		int call;
		uint8_t want;
	} t[] = {
		{ SYS_futex, STATE_RECORD_LOCK },
		{ SYS_clock_nanosleep, STATE_RECORD_SLEEP },
		{ SYS_rt_sigsuspend, STATE_RECORD_SLEEP },
		{ SYS_read, STATE_RECORD_IO },
		{ SYS_ppoll, STATE_RECORD_IO },
		{ SYS_epoll_pwait, STATE_RECORD_IO },
		{ SYS_recvmsg, STATE_RECORD_IO },
		{ SYS_fsync, STATE_RECORD_IO },
		{ SYS_wait4, STATE_RECORD_OTHER },
		{ STATE_RECORD_CALLS_MAX - 1, STATE_RECORD_OTHER },
	};
	uint8_t states[STATE_RECORD_CALLS_MAX];

	(void)state;
	state_calls_fill(states);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(states[t[i].call], t[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_wait_have_the_state_of_what_they_wait_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
