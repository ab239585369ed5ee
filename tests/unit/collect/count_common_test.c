/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_common.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"
#include "collect/count_layers.h"
#include "collect/count_places.h"
#include "collect/count_reader.h"
#include "counted_program.h"

#define FIRST	 COUNTED_PROGRAM_FIRST
#define SIZE	 COUNTED_PROGRAM_SIZE
#define N_COMMON COUNTED_PROGRAM_TARGETS
#define N_ALL	 COUNTED_PROGRAM_N /* the rest are the child's */

/* Tables of the first n blocks. */
static struct count_file_base base_of(uint32_t n)
{
	return (struct count_file_base){ .n_blocks = n,
					 .n_pairs = counted_program_pairs(n),
					 .n_returns = n };
}

/* Solved, by the numbers that blocks have in the program. */
static uint64_t solve(const struct count_reader *r, struct count_flow_block *ret)
{
	struct count_flow flow;
	uint64_t n;

	count_flow_solve(&r->flow, &flow);
	for (size_t i = 1; i < r->flow.n_blocks; i++)
		ret[(r->flow.blocks[i].addr - FIRST) / SIZE] = flow.blocks[i];
	n = flow.n_unbalanced + flow.n_unknown;
	count_flow_fini(&flow);
	return n;
}

/* What it has told of places is what their addresses tell. */
static void check_places(const struct count_reader *r)
{
	own(count_places_fini) struct count_places found = { 0 };
	const struct count_places *told = &r->flow.places;

	count_places_find(&found, &r->flow);
	assert_int_equal(told->n, found.n);
	for (size_t i = 1; i < r->flow.n_blocks; i++)
		assert_memory_equal(&told->blocks[i], &found.blocks[i],
				    sizeof(*found.blocks));
}

static void compare(const struct count_window *whole, struct count_common *common,
		    size_t n_least, size_t n_most)
{
	static struct count_flow_block all[N_ALL], few[N_ALL];
	own(count_reader_fini) struct count_reader r = { 0 }, child = { 0 };

	memset(all, 0, sizeof(all));
	memset(few, 0, sizeof(few));
	assert_int_equal(count_reader_open(whole, &r, NULL), 0);
	assert_int_equal(count_reader_open_child(whole, common, &child, NULL), 0);
	assert_int_equal(r.flow.n_blocks, N_ALL);
	assert_in_range(child.flow.n_blocks, n_least, n_most);
	check_places(&child);
	assert_int_equal(solve(&r, all), 0);
	assert_int_equal(solve(&child, few), 0);
	assert_memory_equal(all, few, sizeof(all));
}

static void a_child_is_told_as_it_is_with_all_that_it_did_not_execute(void **state)
{
	const struct count_file_base none = { 0 };
	struct count_file_base all;

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct count_window base, child, whole;
		struct count_layers layers;
		struct count_common *common = NULL;

		counted_program_make(seed);
		all = base_of(N_COMMON);

		own(closep) int fd = counted_program_file(&none, 0, N_COMMON);

		count_window_over(&fd, &base);
		assert_int_equal(count_common_read(&base, &all, &common, NULL), 0);
		for (unsigned n = 0; n < 3; n++) {
			own(closep) int own_fd = -1;

			for (unsigned i = 0; i < n; i++) {
				counted_program_walk(
					1 + (uint32_t)rand() % (N_COMMON - 1), N_ALL);
				counted_program_walk(
					N_COMMON + (uint32_t)rand() % (N_ALL - N_COMMON),
					N_ALL);
			}
			own_fd = counted_program_file(&all, N_COMMON, N_ALL);
			count_window_over(&own_fd, &child);
			assert_true(count_layers_over(&child, &base, &layers, &whole));
			compare(&whole, common, N_ALL - N_COMMON, N_ALL);
		}
		count_common_free(common);
	}
}

static void who_executed_nothing_has_nothing_in_common(void **state)
{
	const struct count_file_base none = { 0 };
	struct count_file_base all;
	own(count_reader_fini) struct count_reader child = { 0 };
	struct count_common *common = NULL;
	struct count_window base, own_window, whole;
	struct count_layers layers;

	(void)state;
	counted_program_make(1);
	all = base_of(N_COMMON);

	own(closep) int fd = counted_program_file(&none, 0, N_COMMON);
	own(closep) int own_fd = counted_program_file(&all, N_COMMON, N_COMMON);

	count_window_over(&fd, &base);
	count_window_over(&own_fd, &own_window);
	assert_int_equal(count_common_read(&base, &all, &common, NULL), 0);
	assert_true(count_layers_over(&own_window, &base, &layers, &whole));
	assert_int_equal(count_reader_open_child(&whole, common, &child, NULL), 0);
	assert_int_equal(child.flow.n_blocks, 1);
	assert_int_equal(child.flow.n_returns, 0);
	count_common_free(common);
}

static void a_child_with_less_than_is_common_is_damaged(void **state)
{
	const struct count_file_base none = { 0 };
	struct count_file_base all;
	own(count_reader_fini) struct count_reader child = { 0 };
	struct count_common *common = NULL;
	struct count_window base, small;
	struct err e = { 0 };

	(void)state;
	counted_program_make(1);
	all = base_of(N_COMMON);

	own(closep) int fd = counted_program_file(&none, 0, N_COMMON);
	own(closep) int small_fd = counted_program_file(&none, 0, N_COMMON - 1);

	count_window_over(&fd, &base);
	count_window_over(&small_fd, &small);
	assert_int_equal(count_common_read(&base, &all, &common, NULL), 0);
	assert_int_equal(count_reader_open_child(&small, common, &child, &e), ERR_FORMAT);
	assert_non_null(strstr(e.text, "less than the parent's"));
	count_common_free(common);
	common = NULL;
	assert_int_equal(count_common_read(&small, &all, &common, &e), ERR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_child_is_told_as_it_is_with_all_that_it_did_not_execute),
		cmocka_unit_test(who_executed_nothing_has_nothing_in_common),
		cmocka_unit_test(a_child_with_less_than_is_common_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
