/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/trouble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/own.h"

static const struct err full = { .code = ERR_OS, .text = "no room" };
static const struct err other = { .code = ERR_OS, .text = "another" };

static void it_lasts_from_the_first_failure_to_the_first_success(unused void **state)
{
	struct trouble t = { 0 };

	trouble_note(&t, NULL, 0, 5);
	assert_int_equal(t.n, 0);
	trouble_note(&t, &full, 10, 100);
	trouble_note(&t, &full, 30, 150);
	trouble_note(&t, &other, 20, 180);
	assert_true(t.is_on);
	assert_string_equal(t.why.text, "another");
	assert_int_equal(trouble_lasted_ns(&t, 190), 90);
	trouble_note(&t, NULL, 0, 200);
	trouble_note(&t, NULL, 0, 300);
	assert_false(t.is_on);
	assert_int_equal(t.ended_ns, 200);
	assert_int_equal(trouble_lasted_ns(&t, 400), 100);
	assert_int_equal(t.waiting_bytes, 30);
	assert_int_equal(t.n, 1);
}

static void the_next_one_begins_anew(unused void **state)
{
	struct trouble t = { 0 };

	trouble_note(&t, &full, 10, 100);
	trouble_note(&t, NULL, 0, 200);
	trouble_note(&t, &full, 4, 500);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.waiting_bytes, 4);
	assert_int_equal(trouble_lasted_ns(&t, 501), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_lasts_from_the_first_failure_to_the_first_success),
		cmocka_unit_test(the_next_one_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
