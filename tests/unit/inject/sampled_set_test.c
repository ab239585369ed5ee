/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/sampled_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct sampled_set set;

static int clear(void **state)
{
	(void)state;
	memset(&set, 0, sizeof(set));
	return 0;
}

static const void *block(uint64_t i)
{
	return (const void *)(uintptr_t)(0x7f0000000000 + 16 * i);
}

static void members_are_found_once(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 2000; i += 2)
		sampled_set_add(&set, block(i));
	for (uint64_t i = 0; i < 2000; i++)
		assert_int_equal(sampled_set_remove(&set, block(i)), i % 2 == 0);
	for (uint64_t i = 0; i < 2000; i++)
		assert_false(sampled_set_remove(&set, block(i)));
	for (size_t i = 0; i < SAMPLED_SET_BUCKETS; i++)
		assert_int_equal(set.n[i], 0);
}

static void no_member_is_ever_missed(void **state)
{
	uint64_t n = UINT64_C(8) * SAMPLED_SET_BUCKETS * SAMPLED_SET_SLOTS;

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		sampled_set_add(&set, block(i));
	for (uint64_t i = 0; i < n; i++)
		assert_true(sampled_set_remove(&set, block(i)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(members_are_found_once, clear),
		cmocka_unit_test_setup(no_member_is_ever_missed, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
