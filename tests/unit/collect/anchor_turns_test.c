/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_turns.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/own.h"

/* A turn of a program in which places are met each so many ns natively, and meeting one
 * takes hit_ns. */
static void add(struct anchor_turns *t, const unsigned *each_ns, size_t n, bool is_all,
		uint64_t native_ns, uint64_t hit_ns)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += native_ns / each_ns[i];
	for (size_t i = 0; i < n; i++)
		anchor_turns_add(t, &(struct anchor_turns_sum){
					    .addr = each_ns[i],
					    .window = 1,
					    .is_all = is_all,
					    .hits = native_ns / each_ns[i],
					    .all_hits = all,
					    .cpu_ns = native_ns + all * hit_ns });
}

static void what_one_costs_is_told_by_more_of_them(void **state)
{
	static const unsigned each_ns[] = { 100000, 50000, 200000 };
	static const uint64_t costs[] = { 300, 5000, 17000 };

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct anchor_turns t = { 0 };
		double found;

		for (size_t i = 0; i < 3; i++)
			add(&t, each_ns + i, 1, false, 40000000, costs[k]);
		add(&t, each_ns, 3, true, 40000000, costs[k]);
		found = anchor_turns_hit_ns(&t, 1);
		assert_true(found > 0.98 * (double)costs[k] - 5 &&
			    found < 1.02 * (double)costs[k] + 5);
		vec_each(s, &t.sums) {
			double native =
				(double)anchor_turns_native_ns(s, found) / 40000000;

			assert_true(native > 0.99 && native < 1.01);
		}
		anchor_turns_fini(&t);
	}
}

static void few_of_them_tell_nothing(void **state)
{
	static const unsigned each_ns[] = { 100000, 50000 };
	struct anchor_turns t = { 0 };

	(void)state;
	assert_true(anchor_turns_hit_ns(&t, 5500) == 5500);
	add(&t, each_ns, 1, false, 1000000, 9000);
	add(&t, each_ns, 2, true, 1000000, 9000);
	assert_true(anchor_turns_hit_ns(&t, 5500) == 5500);
	anchor_turns_fini(&t);
}

static void turns_between_two_windows_are_summed(void **state)
{
	struct anchor_turns t = { 0 };

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		anchor_turns_add(&t, &(struct anchor_turns_sum){ .addr = 1 + i % 2,
								 .window = i / 2,
								 .hits = 2,
								 .cpu_ns = 10 });
	anchor_turns_add(&t, &(struct anchor_turns_sum){
				     .addr = 1, .window = 1, .hits = 3, .cpu_ns = 5 });
	assert_int_equal(t.sums.n, 4);
	assert_int_equal(t.sums.at[2].hits, 5);
	assert_int_equal(t.sums.at[2].cpu_ns, 15);
	anchor_turns_fini(&t);
}

static void some_time_is_always_the_programs(void **state)
{
	(void)state;
	assert_int_equal(
		anchor_turns_native_ns(
			&(struct anchor_turns_sum){ .all_hits = 100, .cpu_ns = 1000 },
			50),
		100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_costs_is_told_by_more_of_them),
		cmocka_unit_test(few_of_them_tell_nothing),
		cmocka_unit_test(turns_between_two_windows_are_summed),
		cmocka_unit_test(some_time_is_always_the_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
