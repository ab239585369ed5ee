/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "inject/wait_place.h"

#define N WIRE_SAMPLER_N_WAITING

static int set_up(void **state)
{
	(void)state;
	wait_place_reset();
	return 0;
}

static void who_waits_again_has_its_place_again(void **state)
{
	struct wait_place a = { .at = 7 }, b = { .at = 7 }, c = { .at = N + 7 };

	(void)state;
	assert_true(wait_place_take(&a));
	assert_int_equal(a.at, 7);
	assert_true(wait_place_take(&b));
	assert_true(wait_place_take(&c));
	assert_true(b.at < N && c.at < N);
	assert_true(b.at != 7 && c.at != 7 && b.at != c.at);
	/* Who has jumped out of a wait has it still. */
	assert_true(wait_place_take(&a));
	assert_int_equal(a.at, 7);
	wait_place_give(&a);
	wait_place_give(&a);
	assert_true(wait_place_take(&b));
	assert_int_not_equal(b.at, 7);
	assert_true(wait_place_take(&a));
	assert_int_equal(a.at, 7);
}

/* However many there were before. */
static void each_of_as_many_as_wait_at_once_has_one(void **state)
{
	static struct wait_place all[N], more = { .at = 3 }, late = { .at = 5 * N };
	static bool is_taken[N];

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		all[i].at = 100000 + i / 3; /* of some the same */
		assert_true(wait_place_take(&all[i]));
		assert_true(all[i].at < N);
		assert_false(is_taken[all[i].at]);
		is_taken[all[i].at] = true;
	}
	assert_false(wait_place_take(&more));
	wait_place_give(&more);
	wait_place_give(&all[N / 2]);
	assert_true(wait_place_take(&late));
	assert_int_equal(late.at, all[N / 2].at);
	assert_false(wait_place_take(&more));
	wait_place_reset();
	assert_true(wait_place_take(&more));
	assert_int_equal(more.at, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(who_waits_again_has_its_place_again, set_up),
		cmocka_unit_test_setup(each_of_as_many_as_wait_at_once_has_one, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
