/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_common.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/own.h"
#include "collect/count_layers.h"
#include "collect/count_places.h"
#include "collect/count_reader.h"
#include "collect/count_ways.h"

#define FIRST	 0x10000
#define SIZE	 4
#define N_COMMON 2000u
#define N_ALL	 2200u /* the rest are the child's */

/* A program as the engine would have it: ways without a counter are a forest. */
static struct count_file_block blocks[N_ALL];
static struct count_file_return returns[N_ALL];
static uint64_t counters[4 * N_ALL];
static uint32_t parents[2 * N_ALL];
static uint32_t n_counters, n_parts;

static uint32_t root_of(uint32_t i)
{
	while (parents[i] != i)
		i = parents[i];
	return i;
}

/* 0: they were apart. */
static uint32_t counter_between(uint32_t a, uint32_t b)
{
	a = root_of(a);
	b = root_of(b);
	if (a == b)
		return n_counters++;
	parents[a > b ? a : b] = a > b ? b : a;
	return 0;
}

/* Part 0 is outside of all code; block i begins in part i. */
static uint32_t part_of(const struct count_way *w)
{
	return w->is_out ? 0 : (uint32_t)(w->addr - FIRST) / SIZE;
}

static void plan_block(uint32_t i)
{
	static const uint8_t ends[] = { COUNT_END_ON,	       COUNT_END_CONDITIONAL,
					COUNT_END_JUMP,	       COUNT_END_CALL,
					COUNT_END_CONDITIONAL, COUNT_END_RETURN };
	struct count_file_block *b = &blocks[i];
	struct count_ways ways;
	uint32_t behind = i;

	*b = (struct count_file_block){
		.addr = FIRST + SIZE * i,
		.target = FIRST + SIZE * (1 + (uint32_t)rand() % (N_COMMON - 1)),
		.image = COUNT_FILE_NO_IMAGE,
		.size_bytes = SIZE,
		.n_insns = 1,
		.end = i + 1 == N_COMMON || i + 1 == N_ALL
			       ? COUNT_END_RETURN
			       : ends[(unsigned)rand() % sizeof(ends)],
	};
	if (rand() % 8 == 0) {
		b->inside = n_counters++;
		behind = n_parts++;
	}
	ways = count_ways_of(b);
	if (ways.on.is_there)
		b->on = counter_between(behind, part_of(&ways.on));
	if (ways.to.is_there)
		b->to = counter_between(behind, part_of(&ways.to));
	returns[i] = (struct count_file_return){ i, counter_between(0, i) };
}

static void make_program(unsigned seed)
{
	srand(seed);
	n_counters = 1;
	n_parts = N_ALL;
	for (uint32_t i = 0; i < 2 * N_ALL; i++)
		parents[i] = i;
	for (uint32_t i = 1; i < N_ALL; i++)
		plan_block(i);
	memset(counters, 0, sizeof(counters));
}

static void count(uint32_t counter)
{
	if (counter)
		counters[counter]++;
}

/* From a return until the next that leads out. */
static void walk_from(uint32_t i)
{
	count(returns[i].counter);
	for (unsigned steps = 0;; steps++) {
		const struct count_file_block *b = &blocks[i];
		struct count_ways ways = count_ways_of(b);
		bool is_on = ways.on.is_there && (!ways.to.is_there || rand() % 2);
		const struct count_way *w = is_on ? &ways.on : &ways.to;

		count(b->inside);
		count(w->counter);
		if (w->is_out)
			return;
		i = part_of(w);
	}
}

/* Files. */

static void put(int fd, uint64_t off, const void *data, size_t size)
{
	assert_int_equal(pwrite(fd, data, size, (off_t)off), size);
}

/* With what is in the tables from from on. */
static int put_file(const struct count_file_base *there, uint32_t from, uint32_t n)
{
	int fd = memfd_create("counts", MFD_CLOEXEC);
	const struct count_file_header h = { .magic = COUNT_FILE_MAGIC,
					     .version = COUNT_FILE_VERSION,
					     .n_blocks = n,
					     .n_returns = n,
					     .n_counters = n_counters,
					     .n_threads = 1,
					     .n_nests = 1,
					     .base = *there };

	assert_true(fd >= 0 && ftruncate(fd, COUNT_FILE_BYTES) == 0);
	put(fd, 0, &h, sizeof(h));
	put(fd, COUNT_FILE_BLOCKS_OFF + from * sizeof(*blocks), &blocks[from],
	    (n - from) * sizeof(*blocks));
	put(fd, COUNT_FILE_RETURNS_OFF + from * sizeof(*returns), &returns[from],
	    (n - from) * sizeof(*returns));
	put(fd, COUNT_FILE_COUNTERS_OFF + COUNT_FILE_THREAD_SKIP, counters,
	    n_counters * sizeof(*counters));
	return fd;
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
	const struct count_file_base none = { 0 }, all = { .n_blocks = N_COMMON,
							   .n_returns = N_COMMON };

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct count_window base, child, whole;
		struct count_layers layers;
		struct count_common *common = NULL;

		make_program(seed);

		own(closep) int fd = put_file(&none, 0, N_COMMON);

		count_window_over(&fd, &base);
		assert_int_equal(count_common_read(&base, &all, &common, NULL), 0);
		for (unsigned n = 0; n < 3; n++) {
			own(closep) int own_fd = -1;

			for (unsigned i = 0; i < n; i++) {
				walk_from(1 + (uint32_t)rand() % (N_COMMON - 1));
				walk_from(N_COMMON +
					  (uint32_t)rand() % (N_ALL - N_COMMON));
			}
			own_fd = put_file(&all, N_COMMON, N_ALL);
			count_window_over(&own_fd, &child);
			assert_true(count_layers_over(&child, &base, &layers, &whole));
			compare(&whole, common, N_ALL - N_COMMON, N_ALL);
		}
		count_common_free(common);
	}
}

static void who_executed_nothing_has_nothing_in_common(void **state)
{
	const struct count_file_base none = { 0 }, all = { .n_blocks = N_COMMON,
							   .n_returns = N_COMMON };
	own(count_reader_fini) struct count_reader child = { 0 };
	struct count_common *common = NULL;
	struct count_window base, own_window, whole;
	struct count_layers layers;

	(void)state;
	make_program(1);

	own(closep) int fd = put_file(&none, 0, N_COMMON);
	own(closep) int own_fd = put_file(&all, N_COMMON, N_COMMON);

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
	const struct count_file_base none = { 0 }, all = { .n_blocks = N_COMMON,
							   .n_returns = N_COMMON };
	own(count_reader_fini) struct count_reader child = { 0 };
	struct count_common *common = NULL;
	struct count_window base, small;
	struct err e = { 0 };

	(void)state;
	make_program(1);

	own(closep) int fd = put_file(&none, 0, N_COMMON);
	own(closep) int small_fd = put_file(&none, 0, N_COMMON - 1);

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
