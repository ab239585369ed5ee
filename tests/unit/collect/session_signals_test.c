/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_signals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void signals_have_names_and_numbers(void **state)
{
	static const struct {
		const char *name;
		int rc, signal;
	} t[] = {
		{ "USR1", 0, SIGUSR1 },
		{ "SIGUSR2", 0, SIGUSR2 },
		{ "12", 0, 12 },
		{ "KILL", ERR_USAGE, 0 },
		{ "NOSUCH", ERR_USAGE, 0 },
		{ "0", ERR_USAGE, 0 },
		{ "", ERR_USAGE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct err e = { 0 };
		int signal = 0;

		assert_int_equal(session_signals_parse(t[i].name, &signal, &e), t[i].rc);
		if (t[i].rc == 0)
			assert_int_equal(signal, t[i].signal);
		else
			assert_true(e.text[0]);
	}
}

static const struct session_signal_numbers numbers = {
	.toggle = SIGUSR1,
	.mark = SIGUSR2,
	.callstack = SIGWINCH,
};
static const struct session_signal_numbers none = { 0 };

static void the_terminals_interrupt_is_the_programs_business(void **state)
{
	struct session_signals s = { .fd = -1 };

	(void)state;
	assert_int_equal(session_signals_init(&s, true, &numbers, NULL), 0);
	raise(SIGINT);
	assert_int_equal(session_signals_next(&s), SESSION_SIGNAL_NONE);
	raise(SIGUSR1);
	assert_int_equal(session_signals_next(&s), SESSION_SIGNAL_TOGGLE);
	raise(SIGUSR2);
	assert_int_equal(session_signals_next(&s), SESSION_SIGNAL_MARK);
	raise(SIGWINCH);
	assert_int_equal(session_signals_next(&s), SESSION_SIGNAL_CALLSTACK);
	raise(SIGTERM);
	assert_int_equal(session_signals_next(&s), SESSION_SIGNAL_END);
	raise(SIGTERM); /* pending at the end: heard, not deadly */
	session_signals_fini(&s);

	assert_int_equal(session_signals_init(&s, false, &none, NULL), 0);
	raise(SIGINT);
	assert_int_equal(session_signals_next(&s), SESSION_SIGNAL_END);
	session_signals_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_have_names_and_numbers),
		cmocka_unit_test(the_terminals_interrupt_is_the_programs_business),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
