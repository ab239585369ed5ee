/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_stacks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define IMAGES	   4
#define OFFS	   200
#define PROCESSES  300
#define FIRST_SEED 4711

/* The truth: a table of all places. */
static uint32_t told[IMAGES][OFFS], n_told;

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 16;
}

/* One that has about share of each 16 places. */
static void be_asked(struct count_stacks *s, unsigned *seed, unsigned share)
{
	count_stacks_begin(s);
	for (uint32_t image = 0; image < IMAGES; image++)
		for (uint32_t off = 0; off < OFFS; off++) {
			uint32_t *truth = &told[image][off];

			if (next(seed) % 16 >= share)
				continue;
			assert_int_equal(count_stacks_find(s, image, off), *truth);
			if (*truth)
				continue;
			*truth = ++n_told;
			count_stacks_add(s, image, off, *truth);
		}
	count_stacks_end(s);
}

static void processes_find_what_others_have_told(void **state)
{
	struct count_stacks s = { 0 };
	unsigned seed = FIRST_SEED;

	(void)state;
	memset(told, 0, sizeof(told));
	for (unsigned i = 0; i < PROCESSES; i++)
		be_asked(&s, &seed, i % 7);
	assert_int_equal(s.all.n, n_told);
	for (size_t i = 1; i < s.all.n; i++)
		assert_true(s.all.at[i - 1].image < s.all.at[i].image ||
			    s.all.at[i - 1].off < s.all.at[i].off);
	count_stacks_fini(&s);
}

static void nothing_is_known_at_first(void **state)
{
	struct count_stacks s = { 0 };

	(void)state;
	count_stacks_begin(&s);
	assert_int_equal(count_stacks_find(&s, 1, 2), 0);
	count_stacks_end(&s);
	assert_int_equal(s.all.n, 0);
	count_stacks_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_find_what_others_have_told),
		cmocka_unit_test(nothing_is_known_at_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
