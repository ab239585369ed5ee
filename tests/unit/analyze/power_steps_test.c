/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/power_steps.h"

static void labels_tell_their_step(void **state)
{
	static const struct {
		const char *label;
		unsigned step; /* POWER_STEPS: none */
	} t[] = {
		{ "[from 0 bytes]", 0 },
		{ "[from 1 ns]", 1 },
		{ "[from 1024 ns]", 11 },
		{ "[from 4611686018427387904 ns]", 63 },
		{ "[from 9223372036854775808 ns]", POWER_STEPS },
		{ "[from here]", POWER_STEPS },
		{ "read", POWER_STEPS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct power_steps s = { 0 };

		power_steps_add(&s, t[i].label, 7);
		assert_int_equal(s.sum, t[i].step < POWER_STEPS ? 7 : 0);
		if (t[i].step < POWER_STEPS)
			assert_int_equal(s.n[t[i].step], 7);
	}
}

static void what_has_something_is_between_two_steps(void **state)
{
	struct power_steps s = { 0 };

	(void)state;
	assert_int_equal(power_steps_first(&s), 0);
	assert_int_equal(power_steps_end(&s), 0);
	assert_int_equal(power_steps_below(&s), 0);
	power_steps_add(&s, "[from 16 bytes]", 1);
	power_steps_add(&s, "[from 1024 bytes]", 2);
	assert_int_equal(power_steps_least(power_steps_first(&s)), 16);
	assert_int_equal(power_steps_end(&s), 12);
	assert_int_equal(power_steps_below(&s), 2048);
	power_steps_add(&s, "[from 4611686018427387904 bytes]", 2);
	assert_int_equal(power_steps_end(&s), POWER_STEPS);
	assert_true(power_steps_below(&s) == UINT64_C(1) << 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_tell_their_step),
		cmocka_unit_test(what_has_something_is_between_two_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
