/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_speed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS 1000000ULL

static void what_translation_took_is_not_the_programs(void **state)
{
	const struct anchor_speed unknown = { 0 };

	(void)state;
	/* A loop, and a compiler whose code is new. */
	assert_int_equal(anchor_speed_native_ns(&unknown, 8 * MS, 30e6), 5 * MS);
	assert_int_equal(anchor_speed_native_ns(&unknown, 8 * MS, 3e5), 3 * MS / 10);
	assert_int_equal(anchor_speed_native_ns(&unknown, 8 * MS, 0), 0);
}

static void windows_that_are_told_of_tell_of_the_others(void **state)
{
	struct anchor_speed s = { 0 };

	(void)state;
	anchor_speed_add(&s, 12e6, 3e6);
	assert_int_equal(anchor_speed_native_ns(&s, 4 * MS, 12e6), 3 * MS);
	/* One that waits for memory counts for as long as it takes. */
	anchor_speed_add(&s, 2e6, 4e6);
	assert_int_equal(anchor_speed_native_ns(&s, 8 * MS, 4e6), 2 * MS);
	/* And one that met new code for little. */
	assert_int_equal(anchor_speed_native_ns(&s, 8 * MS, 4e5), MS / 5);
}

static void nothing_takes_longer_natively(void **state)
{
	struct anchor_speed s = { 0 };

	(void)state;
	anchor_speed_add(&s, 1e6, 8e6);
	assert_int_equal(anchor_speed_native_ns(&s, 4 * MS, 4e6), 4 * MS);
}

/* Once: what is known then is not supposed. */
static void what_was_supposed_is_mended_when_it_is_known(void **state)
{
	struct anchor_speed s = { 0 };

	(void)state;
	assert_int_equal(anchor_speed_take(&s, 8 * MS, 20e6), 5 * MS);
	assert_int_equal(anchor_speed_take(&s, 8 * MS, 10e6), 5 * MS);
	assert_true(anchor_speed_mend(&s) == 0);
	anchor_speed_add(&s, 12e6, 6e6);
	assert_int_equal(anchor_speed_take(&s, 8 * MS, 10e6), 5 * MS);
	assert_true(anchor_speed_mend(&s) == 5 * MS);
	assert_true(anchor_speed_mend(&s) == 0);
}

static void what_was_supposed_to_be_longer_cost_more(void **state)
{
	struct anchor_speed s = { 0 };

	(void)state;
	assert_int_equal(anchor_speed_take(&s, 8 * MS, 4e6), 4 * MS);
	anchor_speed_add(&s, 12e6, 6e6);
	assert_true(anchor_speed_mend(&s) == -2.0 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_translation_took_is_not_the_programs),
		cmocka_unit_test(windows_that_are_told_of_tell_of_the_others),
		cmocka_unit_test(nothing_takes_longer_natively),
		cmocka_unit_test(what_was_supposed_is_mended_when_it_is_known),
		cmocka_unit_test(what_was_supposed_to_be_longer_cost_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
