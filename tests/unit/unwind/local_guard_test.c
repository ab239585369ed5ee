/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/local_guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define N_PAGES (3 * LOCAL_GUARD_PAGES)

static void what_is_there_is_read_and_the_rest_refused(void **state)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), word;
	struct local_guard guard = { .n = 0 };
	uint8_t *pages = mmap(NULL, N_PAGES * page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	for (uint64_t i = 0; i < N_PAGES; i++)
		memcpy(pages + i * page, &i, sizeof(i));
	assert_int_equal(mprotect(pages + 5 * page, page, PROT_NONE), 0);
	/* Twice, so that some are known and some were forgotten. */
	for (uint64_t i = 0; i < 2 * (uint64_t)N_PAGES; i++) {
		uint64_t nth = i % N_PAGES, at = (uint64_t)(uintptr_t)pages + nth * page;

		assert_int_equal(local_guard_word(&guard, at, &word), nth != 5);
		assert_int_equal(local_guard_word(&guard, at + 8, &word), nth != 5);
		if (nth == 5)
			continue;
		assert_true(local_guard_word(&guard, at, &word));
		assert_int_equal(word, nth);
		/* A word that ends in the next page. */
		if (nth != N_PAGES - 1)
			assert_int_equal(local_guard_word(&guard, at + page - 4, &word),
					 nth != 4);
	}
	munmap(pages, N_PAGES * page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_is_read_and_the_rest_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
