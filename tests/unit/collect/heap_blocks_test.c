/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/map.h"
#include "collect/heap_blocks.h"

static void an_empty_table_has_nothing(void **state)
{
	struct heap_blocks b = { 0 };
	struct heap_block got;

	(void)state;
	assert_false(heap_blocks_remove(&b, 16, &got));
	assert_false(heap_blocks_remove(&b, 0, &got));
	heap_blocks_fini(&b);
}

static void a_block_at_a_taken_address_replaces_what_was_there(void **state)
{
	struct heap_blocks b = { 0 };
	struct heap_block first = { 16, 1, 2, 3, 4 }, second = { 16, 5, 6, 7, 8 }, old;

	(void)state;
	assert_true(heap_blocks_add(&b, &first, &old));
	assert_false(heap_blocks_add(&b, &second, &old));
	assert_memory_equal(&old, &first, sizeof(old));
	assert_int_equal(b.n, 1);
	assert_true(heap_blocks_remove(&b, 16, &old));
	assert_memory_equal(&old, &second, sizeof(old));
	assert_false(heap_blocks_remove(&b, 16, &old));
	heap_blocks_fini(&b);
}

/* Against a map, over few addresses so that runs of neighbours form and break. */
static void whatever_comes_and_goes_the_rest_is_found(void **state)
{
	struct heap_blocks b = { 0 };
	struct map want = { 0 };
	struct heap_block old;

	(void)state;
	srand(1);
	for (uint32_t i = 1; i < 300000; i++) {
		uint64_t address = 16 + 16 * ((uint64_t)rand() % 3000);
		struct heap_block block = { .address = address, .size_bytes = i };
		const uint64_t *there = map_find(&want, address);

		if (rand() % 2) {
			assert_int_equal(heap_blocks_add(&b, &block, &old), !there);
			*map_slot(&want, address, NULL) = i;
		} else {
			assert_int_equal(heap_blocks_remove(&b, address, &old), !!there);
			if (there)
				assert_int_equal(old.size_bytes, *there);
			map_remove(&want, address);
		}
		assert_int_equal(b.n, want.n);
	}
	heap_blocks_fini(&b);
	map_fini(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_table_has_nothing),
		cmocka_unit_test(a_block_at_a_taken_address_replaces_what_was_there),
		cmocka_unit_test(whatever_comes_and_goes_the_rest_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
