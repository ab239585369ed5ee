/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collect/heap_ledger.h"

static struct heap_block gone;

static void blocks_are_charged_to_the_site_that_took_them(void **state)
{
	struct heap_ledger l = { 0 };
	uint32_t a = heap_ledger_site(&l, 1, 10), b = heap_ledger_site(&l, 2, 10);

	(void)state;
	heap_ledger_take(&l, 100, a, 0x10, 7);
	heap_ledger_take(&l, 110, b, 0x20, 9);
	heap_ledger_give(&l, 150, 0x10, &gone);
	assert_int_equal(l.sites.at[a].taken.bytes, 7);
	assert_int_equal(l.sites.at[a].live.blocks, 0);
	assert_int_equal(l.sites.at[a].lifetime_ns, 50);
	assert_int_equal(l.sites.at[b].live.bytes, 9);
	assert_int_equal(l.live.bytes, 9);
	assert_int_equal(l.peak.bytes, 16);
	assert_int_equal(l.peak_ns, 110);
	heap_ledger_fini(&l);
}

static void a_block_given_back_before_the_next_is_taken_is_temporary(void **state)
{
	struct heap_ledger l = { 0 };
	uint32_t a = heap_ledger_site(&l, 1, 10);

	(void)state;
	heap_ledger_take(&l, 1, a, 0x10, 1);
	heap_ledger_give(&l, 2, 0x10, &gone);
	heap_ledger_take(&l, 3, a, 0x10, 1);
	heap_ledger_take(&l, 4, a, 0x20, 1);
	heap_ledger_give(&l, 5, 0x10, &gone);
	heap_ledger_give(&l, 6, 0x20, &gone);
	assert_int_equal(l.sites.at[a].temporary, 2);
	heap_ledger_fini(&l);
}

static void a_sampled_block_stands_for_those_that_were_not(void **state)
{
	struct heap_ledger l = { .sample_bytes = 1000 };
	uint32_t a = heap_ledger_site(&l, 1, 10);

	(void)state;
	/* p = 1 - exp(-10 / 1000), then one that is surely taken. */
	heap_ledger_take(&l, 1, a, 0x10, 9);
	assert_int_equal(heap_ledger_count_of(&l, l.taken.blocks), 101);
	assert_int_equal(l.live.bytes, 905);
	heap_ledger_take(&l, 2, a, 0x20, 100000);
	assert_int_equal(l.live.bytes, 100905);
	heap_ledger_give(&l, 11, 0x10, &gone);
	assert_int_equal(l.live.bytes, 100000);
	assert_int_equal(heap_ledger_count_of(&l, l.live.blocks), 1);
	assert_true(l.sites.at[a].lifetime_ns > 1000 && l.sites.at[a].lifetime_ns < 1010);
	assert_int_equal(l.sites.at[a].temporary, 0);
	heap_ledger_give(&l, 12, 0x20, &gone);
	assert_int_equal(l.live.blocks, 0);
	heap_ledger_fini(&l);
}

static void what_is_not_known_is_counted_and_changes_nothing(void **state)
{
	struct heap_ledger l = { 0 };
	uint32_t a = heap_ledger_site(&l, 1, 10);

	(void)state;
	heap_ledger_give(&l, 1, 0x10, &gone);
	heap_ledger_move(&l, 1, 0x10, &gone);
	assert_false(heap_ledger_unmove(&l, 1, 0x10, &gone));
	heap_ledger_take(&l, 2, a, 0, 5);
	assert_int_equal(l.n_unmatched, 2);
	assert_int_equal(l.taken.blocks, 0);
	heap_ledger_take(&l, 3, a, 0x30, 5);
	heap_ledger_take(&l, 4, a, 0x30, 6);
	assert_int_equal(l.n_retaken, 1);
	assert_int_equal(l.live.bytes, 6);
	heap_ledger_fini(&l);
}

static void a_block_that_could_not_be_moved_is_there_again(void **state)
{
	struct heap_ledger l = { 0 };
	uint32_t a = heap_ledger_site(&l, 1, 10), b = heap_ledger_site(&l, 2, 10);

	(void)state;
	/* An older one that was at the same address. */
	heap_ledger_take(&l, 1, b, 0x10, 3);
	heap_ledger_move(&l, 2, 0x10, &gone);
	heap_ledger_take(&l, 3, b, 0x20, 30);
	heap_ledger_take(&l, 4, a, 0x10, 5);
	heap_ledger_move(&l, 5, 0x10, &gone);
	assert_true(heap_ledger_unmove(&l, 6, 0x10, &gone));
	assert_int_equal(gone.address, 0x10);
	assert_int_equal(l.sites.at[a].live.bytes, 5);
	assert_int_equal(l.sites.at[b].live.bytes, 30);
	assert_int_equal(l.given.blocks, 1);
	heap_ledger_give(&l, 9, 0x10, &gone);
	assert_int_equal(l.n_unmatched, 0);
	heap_ledger_fini(&l);
}

#define N_SITES	 6
#define N_PLACES 200

/* What was live at the peak, copied whenever there is a new one. */
static void the_peak_of_every_site_is_what_a_copy_at_that_moment_says(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		struct heap_ledger l = { 0 };
		uint64_t live[N_SITES] = { 0 }, want[N_SITES] = { 0 }, all = 0, most = 0;
		struct {
			uint32_t site;
			uint64_t bytes;
		} at[N_PLACES] = { { 0 } };

		srand(seed);
		for (uint32_t i = 0; i < N_SITES; i++)
			heap_ledger_site(&l, i, 1);
		for (uint64_t t = 1; t < 2000; t++) {
			unsigned k = (unsigned)rand() % N_PLACES;
			uint64_t address = 16 + 16 * (uint64_t)k;

			if (at[k].bytes) {
				heap_ledger_give(&l, t, address, &gone);
				live[at[k].site] -= at[k].bytes;
				all -= at[k].bytes;
				at[k].bytes = 0;
				continue;
			}
			at[k].site = (uint32_t)rand() % N_SITES;
			at[k].bytes = 1 + (uint64_t)rand() % 100;
			heap_ledger_take(&l, t, at[k].site, address, at[k].bytes);
			live[at[k].site] += at[k].bytes;
			all += at[k].bytes;
			if (all > most)
				memcpy(want, live, sizeof(want));
			most = all > most ? all : most;
		}
		assert_int_equal(l.peak.bytes, most);
		for (uint32_t i = 0; i < N_SITES; i++)
			assert_int_equal(heap_ledger_at_peak(&l, i).bytes, want[i]);
		heap_ledger_fini(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_charged_to_the_site_that_took_them),
		cmocka_unit_test(
			a_block_given_back_before_the_next_is_taken_is_temporary),
		cmocka_unit_test(a_sampled_block_stands_for_those_that_were_not),
		cmocka_unit_test(what_is_not_known_is_counted_and_changes_nothing),
		cmocka_unit_test(a_block_that_could_not_be_moved_is_there_again),
		cmocka_unit_test(
			the_peak_of_every_site_is_what_a_copy_at_that_moment_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
