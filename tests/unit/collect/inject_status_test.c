/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_status.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static void who_ignores_a_signal_is_known(void **state)
{
	static const int signals[] = { SIGHUP, SIGTRAP, SIGUSR2 };

	(void)state;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		signal(signals[i], SIG_IGN);
		for (size_t k = 0; k < sizeof(signals) / sizeof(signals[0]); k++)
			assert_int_equal(inject_status_ignores(getpid(), signals[k]),
					 i == k);
		signal(signals[i], SIG_DFL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_ignores_a_signal_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
