/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"
#include "collect/count_insns.h"
#include "counted_program.h"

#define N COUNTED_PROGRAM_N

static const struct count_file_base none;

/* The same as all of the file tells that is read at once. */
static void check(const struct count_live *l, const struct count_window *w)
{
	own(count_reader_fini) struct count_reader r = { 0 };
	own(count_flow_fini) struct count_flow flow = { 0 };
	own(count_insns_fini) struct count_insns insns = { 0 };
	size_t n_executed = 0, n_taken = 0;

	assert_int_equal(count_reader_open(w, &r, NULL), 0);
	count_flow_solve(&r.flow, &flow);
	count_insns_init(&insns, &r.flow);
	assert_int_equal(flow.n_unbalanced + flow.n_unknown, 0);
	assert_int_equal(l->blocks.n, r.flow.n_blocks);
	for (size_t i = 1; i < r.flow.n_blocks; i++) {
		int64_t n = count_insns_begun(&insns, (uint32_t)i, flow.blocks[i].n);

		assert_int_equal(l->flows.at[i].n, n);
		assert_int_equal(l->flows.at[i].to, flow.blocks[i].to);
		n_executed += n != 0;
	}
	vec_each(i, &l->executed)
		n_executed -= l->flows.at[*i].n != 0;
	assert_int_equal(n_executed, 0);
	for (size_t i = 0; i < r.flow.n_pairs; i++)
		n_taken += r.flow.counters[r.flow.pairs[i].counter] != 0;
	assert_int_equal(l->taken.n, n_taken);
	vec_each(x, &l->taken)
		assert_int_equal(x->times,
				 r.flow.counters[r.flow.pairs[x->pair].counter]);
}

static void read_and_check(struct count_live *l, uint32_t n)
{
	own(closep) int fd = counted_program_file(&none, 0, n);
	struct count_window w;

	count_window_over(&fd, &w);
	assert_int_equal(count_live_read(l, &w, NULL), 0);
	check(l, &w);
}

static void each_reading_tells_what_was_executed_since_the_last(void **state)
{
	static const uint32_t sizes[] = { 2, 40, 700, 700, 1999, 2100, N, N };

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		own(count_live_fini) struct count_live l = { 0 };

		counted_program_make(seed);
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			uint32_t n = sizes[k];

			counted_program_clear();
			for (unsigned i = 0; i < 2 * k; i++) {
				counted_program_walk(1 + (uint32_t)rand() % (n - 1), n);
				counted_program_enter(1 + (uint32_t)rand() % (n - 1), n);
			}
			read_and_check(&l, n);
		}
	}
}

static void only_what_was_executed_is_listed(void **state)
{
	own(count_live_fini) struct count_live l = { 0 };

	(void)state;
	counted_program_make(1);
	read_and_check(&l, N);
	assert_int_equal(l.executed.n, 0);
	counted_program_walk(N - 1, N);
	read_and_check(&l, N);
	assert_int_equal(l.executed.n, 1);
	assert_int_equal(l.executed.at[0], N - 1);
}

static void nothing_is_damaged_where_nothing_was_met_yet(void **state)
{
	own(count_live_fini) struct count_live l = { 0 };
	own(closep) int fd = -1;
	struct count_window w;

	(void)state;
	counted_program_make(1);
	fd = counted_program_file(&none, 0, 1);
	count_window_over(&fd, &w);
	assert_int_equal(count_live_read(&l, &w, NULL), 0);
	assert_int_equal(count_live_read(&l, &w, NULL), 0);
	assert_int_equal(l.blocks.n, 1);
	counted_program_walk(7, N);
	read_and_check(&l, N);
}

static void another_file_begins_anew(void **state)
{
	own(count_live_fini) struct count_live l = { 0 };

	(void)state;
	counted_program_make(1);
	read_and_check(&l, N);
	l.there.id.pid++; /* as if it had been another one */
	counted_program_make(2);
	counted_program_walk(7, N);
	read_and_check(&l, N);
}

static void a_damaged_file_is_refused_and_nothing_is_known_then(void **state)
{
	own(count_live_fini) struct count_live l = { 0 };
	struct count_window w;
	struct err e = { 0 };

	(void)state;
	counted_program_make(1);
	read_and_check(&l, N);

	own(closep) int fd = counted_program_file(&none, 0, N - 1);

	count_window_over(&fd, &w);
	assert_int_equal(count_live_read(&l, &w, &e), ERR_FORMAT);
	assert_int_equal(l.blocks.n, 0);
	assert_int_equal(count_live_read(&l, &w, &e), 0);
	check(&l, &w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reading_tells_what_was_executed_since_the_last),
		cmocka_unit_test(only_what_was_executed_is_listed),
		cmocka_unit_test(nothing_is_damaged_where_nothing_was_met_yet),
		cmocka_unit_test(another_file_begins_anew),
		cmocka_unit_test(a_damaged_file_is_refused_and_nothing_is_known_then),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
