/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "inject/thread_chain.h"

struct kept {
	struct thread_link link;
	int owner; /* 0: it is gone */
	int n_looks;
};

static struct kept all[1000];

static bool take(struct thread_link *link, int tid)
{
	struct kept *k = (struct kept *)link;

	k->n_looks++;
	if (k->owner)
		return false;
	k->owner = tid;
	return true;
}

static void setup(struct thread_chain *c, size_t n)
{
	*c = (struct thread_chain){ 0 };
	for (size_t i = 0; i < n; i++) {
		all[i] = (struct kept){ .owner = 1 };
		assert_int_equal(thread_chain_add(c, &all[i].link), i);
	}
}

static void nothing_is_found_where_there_is_nothing(void **state)
{
	struct thread_chain c = { 0 };

	(void)state;
	assert_null(thread_chain_reuse(&c, 2, take));
	assert_null(thread_chain_newest(&c));
}

static void of_few_each_is_looked_at_once(void **state)
{
	struct thread_chain c;

	(void)state;
	setup(&c, 5);
	assert_null(thread_chain_reuse(&c, 2, take));
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(all[i].n_looks, 1);
	all[0].owner = 0;
	assert_ptr_equal(thread_chain_reuse(&c, 2, take), &all[0].link);
	assert_int_equal(all[0].owner, 2);
}

static void of_many_some_are_looked_at_and_others_the_next_time(void **state)
{
	struct thread_chain c;
	int n = 0;

	(void)state;
	setup(&c, 100);
	all[0].owner = 0; /* the last in turn */
	while (!thread_chain_reuse(&c, 2, take))
		n++;
	assert_int_equal(n, 100 / THREAD_CHAIN_EACH);
	assert_int_equal(all[0].owner, 2);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(all[i].n_looks, 1);
}

/* Who finds one at once leaves the other looks to those that come later. */
static void threads_that_come_and_go_take_a_seventh_beyond_those_that_stay(void **state)
{
	enum { STAY = 800, COME = 10000 };
	struct thread_chain c;
	size_t n_made = STAY;

	(void)state;
	setup(&c, STAY);
	for (int i = 0; i < COME; i++) {
		struct kept *k = (struct kept *)thread_chain_reuse(&c, 2, take);

		if (!k) {
			assert_true(n_made < sizeof(all) / sizeof(all[0]));
			k = &all[n_made++];
			*k = (struct kept){ 0 };
			thread_chain_add(&c, &k->link);
		}
		k->owner = 0;
	}
	assert_true(n_made <= STAY + STAY / (THREAD_CHAIN_EACH - 1) + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_where_there_is_nothing),
		cmocka_unit_test(of_few_each_is_looked_at_once),
		cmocka_unit_test(of_many_some_are_looked_at_and_others_the_next_time),
		cmocka_unit_test(
			threads_that_come_and_go_take_a_seventh_beyond_those_that_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
