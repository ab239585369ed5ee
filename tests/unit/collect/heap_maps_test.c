/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES 512

static struct heap_maps *with_sites(uint32_t n)
{
	struct heap_maps *m = calloc(1, sizeof(*m));

	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(heap_ledger_site(&m->ledger, i + 1, 0), i);
	return m;
}

static void done(struct heap_maps *m)
{
	heap_maps_fini(m);
	free(m);
}

static void parts_go_and_the_rest_stays(void **state)
{
	struct heap_maps *m = with_sites(1);

	(void)state;
	heap_maps_take(m, 1, 0, 100, 100);
	heap_maps_give(m, 2, 140, 20);
	assert_int_equal(m->ranges.n, 2);
	assert_int_equal(m->ledger.live.bytes, 80);
	heap_maps_give(m, 3, 0, 110);
	heap_maps_give(m, 3, 195, 1000);
	assert_int_equal(m->ledger.live.bytes, 65);
	assert_int_equal(m->ledger.peak.bytes, 100);
	assert_int_equal(heap_ledger_at_peak(&m->ledger, 0).bytes, 100);
	heap_maps_give(m, 4, 0, UINT64_MAX);
	assert_int_equal(m->ledger.live.bytes, 0);
	assert_int_equal(m->ledger.live.blocks, 0);
	assert_int_equal(m->ledger.taken.blocks, 1);
	done(m);
}

static void what_is_mapped_over_is_replaced(void **state)
{
	struct heap_maps *m = with_sites(2);

	(void)state;
	heap_maps_take(m, 1, 0, 100, 100);
	heap_maps_take(m, 2, 1, 150, 100);
	assert_int_equal(m->ledger.sites.at[0].live.bytes, 50);
	assert_int_equal(m->ledger.sites.at[1].live.bytes, 100);
	done(m);
}

static void what_could_not_be_moved_is_where_it_was(void **state)
{
	struct heap_maps *m = with_sites(2);

	(void)state;
	heap_maps_take(m, 1, 0, 100, 50);
	heap_maps_take(m, 1, 1, 150, 50);
	heap_maps_move(m, 2, 120, 60);
	assert_int_equal(m->ledger.live.bytes, 40);
	heap_maps_stay(m, 3, 120, 60);
	assert_int_equal(m->ledger.sites.at[0].live.bytes, 50);
	assert_int_equal(m->ledger.sites.at[1].live.bytes, 50);
	heap_maps_stay(m, 4, 120, 60); /* said once */
	assert_int_equal(m->ledger.live.bytes, 100);
	done(m);
}

/* Against a byte for each byte. */
static void any_order_leaves_what_a_map_of_bytes_has(void **state)
{
	struct heap_maps *m = with_sites(3);
	uint8_t bytes[BYTES] = { 0 };

	(void)state;
	srandom(1);
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t at = (uint64_t)random() % BYTES;
		uint64_t n = (uint64_t)random() % (BYTES - at) + 1;
		uint32_t site = (uint32_t)random() % 3;
		uint64_t live[3] = { 0 };

		if (random() & 1) {
			heap_maps_take(m, i, site, at, n);
			memset(bytes + at, (int)site + 1, n);
		} else {
			heap_maps_give(m, i, at, n);
			memset(bytes + at, 0, n);
		}
		for (size_t k = 0; k < BYTES; k++)
			if (bytes[k])
				live[bytes[k] - 1]++;
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(m->ledger.sites.at[k].live.bytes, live[k]);
		assert_int_equal(m->ledger.live.blocks, m->ranges.n);
	}
	done(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_go_and_the_rest_stays),
		cmocka_unit_test(what_is_mapped_over_is_replaced),
		cmocka_unit_test(what_could_not_be_moved_is_where_it_was),
		cmocka_unit_test(any_order_leaves_what_a_map_of_bytes_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
