/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_lists.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void each_key_has_its_own_in_their_order(void **state)
{
	static const uint32_t of_2[] = { 7, 5, 7 };
	struct count_lists l = { 0 };
	const uint32_t *found;
	size_t n;

	(void)state;
	count_lists_add(&l, 2, 7);
	count_lists_add(&l, 0, 1);
	count_lists_add(&l, 2, 5);
	count_lists_add(&l, 9, 3); /* no key */
	count_lists_add(&l, 2, 7);
	count_lists_order(&l, 4);
	found = count_lists_of(&l, 2, &n);
	assert_int_equal(n, 3);
	assert_memory_equal(found, of_2, sizeof(of_2));
	found = count_lists_of(&l, 0, &n);
	assert_true(n == 1 && found[0] == 1);
	for (uint32_t key = 1; key < 10; key++)
		if (key != 2) {
			count_lists_of(&l, key, &n);
			assert_int_equal(n, 0);
		}
	count_lists_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_has_its_own_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
