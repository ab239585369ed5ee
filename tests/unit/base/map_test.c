/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void every_key_finds_its_value(void **state)
{
	struct map m = { 0 };
	bool is_new;

	(void)state;
	assert_null(map_find(&m, 0));
	for (uint64_t k = 0; k < 10000; k++) {
		*map_slot(&m, k * 0x10001, &is_new) = k;
		assert_true(is_new);
	}
	assert_int_equal(m.n, 10000);
	for (uint64_t k = 0; k < 10000; k++) {
		assert_int_equal(*map_find(&m, k * 0x10001), k);
		assert_int_equal(*map_slot(&m, k * 0x10001, &is_new), k);
		assert_false(is_new);
	}
	assert_null(map_find(&m, 1));
	map_fini(&m);
}

static void any_key_is_allowed(void **state)
{
	struct map m = { 0 };

	(void)state;
	*map_slot(&m, 0, NULL) = 1;
	*map_slot(&m, UINT64_MAX, NULL) = 2;
	assert_int_equal(*map_find(&m, 0), 1);
	assert_int_equal(*map_find(&m, UINT64_MAX), 2);
	map_fini(&m);
}

/* Against a plain array, so that a hole left by a removal would be seen. */
static void removals_leave_the_others_findable(void **state)
{
	struct map m = { 0 };
	bool present[512] = { false };
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 50000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;

		size_t key = random >> 40 & 511;

		if (random >> 63) {
			assert_int_equal(map_remove(&m, key), present[key]);
			present[key] = false;
		} else {
			*map_slot(&m, key, NULL) = key + 1;
			present[key] = true;
		}
	}
	for (size_t key = 0; key < 512; key++) {
		uint64_t *v = map_find(&m, key);

		assert_int_equal(v != NULL, present[key]);
		if (v)
			assert_int_equal(*v, key + 1);
	}
	map_fini(&m);
}

static void a_cleared_map_is_empty(void **state)
{
	struct map m = { 0 };

	(void)state;
	map_clear(&m);
	*map_slot(&m, 5, NULL) = 5;
	map_clear(&m);
	assert_int_equal(m.n, 0);
	assert_null(map_find(&m, 5));
	assert_false(map_remove(&m, 5));
	map_fini(&m);
}

static void what_is_reserved_does_not_grow(void **state)
{
	(void)state;
	for (size_t n = 0; n < 200; n++) {
		struct map m = { 0 };
		size_t cap;

		*map_slot(&m, 1000, NULL) = 7;
		map_reserve(&m, n + 1);
		cap = m.cap;
		for (size_t i = 0; i < n; i++)
			*map_slot(&m, i, NULL) = i;
		assert_int_equal(m.cap, cap);
		assert_true(cap <= 16 || cap < 3 * (n + 1));
		assert_int_equal(*map_find(&m, 1000), 7);
		map_reserve(&m, 0);
		assert_int_equal(m.cap, cap);
		map_fini(&m);
	}
}

static void hashes_depend_on_every_byte_and_the_length(void **state)
{
	char bytes[64] = { 0 };
	uint64_t plain = hash_bytes(bytes, sizeof(bytes));

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_true(hash_bytes(bytes, sizeof(bytes)) != plain);
		bytes[i] = 0;
	}
	for (size_t n = 0; n < sizeof(bytes); n++)
		assert_true(hash_bytes(bytes, n) != hash_bytes(bytes, n + 1));
	assert_true(hash_pair(1, 2) != hash_pair(2, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_finds_its_value),
		cmocka_unit_test(any_key_is_allowed),
		cmocka_unit_test(removals_leave_the_others_findable),
		cmocka_unit_test(a_cleared_map_is_empty),
		cmocka_unit_test(what_is_reserved_does_not_grow),
		cmocka_unit_test(hashes_depend_on_every_byte_and_the_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
