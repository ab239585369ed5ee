/* SPDX-License-Identifier: Apache-2.0 */
#include "host/syscall_name.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <cmocka.h>

/* By the compiler's headers, on whatever architecture this is. */
static void calls_have_the_names_of_the_headers(void **state)
{
	static const struct {
		uint32_t number;
		const char *name;
	} t[] = {
		{ SYS_read, "read" },
		{ SYS_openat, "openat" },
		{ SYS_exit_group, "exit_group" },
		{ SYS_futex, "futex" },
		{ SYS_clock_nanosleep, "clock_nanosleep" },
		{ SYS_restart_syscall, "restart_syscall" },
		{ SYS_clone3, "clone3" },
		{ 462, "mseal" }, /* later than many headers */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(syscall_name(t[i].number, false), t[i].name);
}

static void numbers_that_no_call_has_have_no_name(void **state)
{
	(void)state;
	assert_null(syscall_name(400, false));
	assert_null(syscall_name(100000, false));
	assert_null(syscall_name(UINT32_MAX, true));
}

static void numbers_of_32_bit_programs_are_others(void **state)
{
	(void)state;
#if defined(__x86_64__)
	assert_string_equal(syscall_name(3, true), "read");
	assert_string_equal(syscall_name(11, true), "execve");
	assert_string_equal(syscall_name(407, true), "clock_nanosleep_time64");
#else
	assert_null(syscall_name(3, true));
#endif
}

static void errors_have_names_also_where_only_a_tracer_sees_them(void **state)
{
	(void)state;
	assert_string_equal(syscall_name_error(ENOENT), "ENOENT");
	assert_string_equal(syscall_name_error(512), "ERESTARTSYS");
	assert_string_equal(syscall_name_error(516), "ERESTART_RESTARTBLOCK");
	assert_null(syscall_name_error(4000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_the_names_of_the_headers),
		cmocka_unit_test(numbers_that_no_call_has_have_no_name),
		cmocka_unit_test(numbers_of_32_bit_programs_are_others),
		cmocka_unit_test(errors_have_names_also_where_only_a_tracer_sees_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
