/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/futex_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>
#include <sys/syscall.h>

static void calls_have_the_numbers_of_this_machine(void **state)
{
	uint8_t calls[FUTEX_RECORD_CALLS_MAX];

	(void)state;
	futex_calls_number(calls, false);
	assert_int_equal(calls[SYS_futex], FUTEX_RECORD_FUTEX);
	assert_int_equal(calls[SYS_exit], FUTEX_RECORD_WAKES);
	assert_int_equal(calls[SYS_read], FUTEX_RECORD_NO_CALL);
	assert_int_equal(calls[SYS_exit_group], FUTEX_RECORD_NO_CALL);
	assert_int_equal(calls[SYS_restart_syscall], FUTEX_RECORD_RESTARTS);
	/* The same number everywhere. */
	assert_int_equal(calls[449], FUTEX_RECORD_WAITS_MANY);
	assert_int_equal(calls[FUTEX_RECORD_CALLS_MAX - 1], FUTEX_RECORD_NO_CALL);
}

static void each_way_to_wait_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (uint32_t how = FUTEX_RECORD_ONE; how < FUTEX_RECORD_N_HOWS; how++) {
		assert_memory_equal(futex_calls_how(how), "[futex", 6);
		for (uint32_t other = FUTEX_RECORD_ONE; other < how; other++)
			assert_string_not_equal(futex_calls_how(how),
						futex_calls_how(other));
	}
	assert_string_equal(futex_calls_how(FUTEX_RECORD_N_HOWS), "[futex]");
	assert_string_equal(futex_calls_how(UINT32_MAX), "[futex]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_the_numbers_of_this_machine),
		cmocka_unit_test(each_way_to_wait_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
