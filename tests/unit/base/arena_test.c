/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void memory_is_zeroed_aligned_and_does_not_move(void **state)
{
	struct arena a = { 0 };
	char *first = arena_alloc(&a, 1);

	(void)state;
	*first = 'x';
	for (size_t size = 1; size < 3000; size += 7) {
		unsigned char *p = arena_alloc(&a, size);

		assert_int_equal((uintptr_t)p % 8, 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, size);
	}
	assert_int_equal(*first, 'x');
	arena_fini(&a);
	assert_null(a.chunks);
}

static void something_larger_than_a_chunk_fits(void **state)
{
	struct arena a = { 0 };
	char *p = arena_alloc(&a, 1 << 20);

	(void)state;
	p[(1 << 20) - 1] = 1;
	assert_true(a.total_bytes >= 1 << 20);
	arena_fini(&a);
}

static void copies_are_equal_and_terminated(void **state)
{
	struct arena a = { 0 };

	(void)state;
	assert_string_equal(arena_strdup(&a, "hello"), "hello");
	assert_string_equal(arena_strndup(&a, "hello", 2), "he");
	assert_string_equal(arena_strndup(&a, "hello", 99), "hello");
	assert_memory_equal(arena_memdup(&a, "a\0b", 3), "a\0b", 3);
	assert_non_null(arena_memdup(&a, NULL, 0));
	arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_aligned_and_does_not_move),
		cmocka_unit_test(something_larger_than_a_chunk_fits),
		cmocka_unit_test(copies_are_equal_and_terminated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
