/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collect/heap_finder.h"

#define N 200000

static uint64_t random_number(void)
{
	return (uint64_t)rand() << 31 ^ (uint64_t)rand();
}

static void add(struct heap_blocks *blocks, uint64_t address, uint64_t size)
{
	struct heap_block b = { .address = address, .size_bytes = size }, old;

	assert_true(heap_blocks_add(blocks, &b, &old));
}

/* That do not overlap, in steps of mostly some bytes and sometimes gigabytes. */
static uint64_t add_many(struct heap_blocks *blocks)
{
	uint64_t at = 16;

	srand(1);
	for (uint32_t i = 0; i < N; i++) {
		uint64_t size = random_number() % (i % 5000 ? 200 : 3000000);

		add(blocks, at, size);
		at += size + 2 + random_number() % (i % 1000 ? 64 : UINT64_C(1) << 32);
	}
	return at;
}

/* What a walk over all blocks says. */
static void check_at(const struct heap_finder *f, uint64_t address, size_t lo)
{
	size_t found = heap_finder_at(f, address);
	bool is_in = address >= f->blocks.at[lo].address &&
		     address < heap_finder_end_of(&f->blocks.at[lo]);

	assert_int_equal(found, is_in ? lo : HEAP_FINDER_NONE);
}

static void blocks_are_found_by_every_address_in_them(void **state)
{
	struct heap_blocks blocks = { 0 };
	struct heap_finder f = { 0 };
	uint64_t last = 0;
	size_t n_pieces = 0;

	(void)state;
	add_many(&blocks);
	heap_finder_begin(&f, &blocks);
	while (heap_finder_go_on(&f))
		n_pieces++;
	assert_int_equal(f.blocks.n, N);
	assert_true(n_pieces > 2 * N / 65536); /* no piece is most of it */
	for (size_t i = 0; i < N; i++) {
		const struct heap_block *b = &f.blocks.at[i];

		assert_true(b->address > last);
		last = b->address;
		check_at(&f, b->address, i);
		check_at(&f, heap_finder_end_of(b) - 1, i);
		check_at(&f, heap_finder_end_of(b), i);
		assert_int_equal(heap_finder_above(&f, b->address), i);
	}
	heap_finder_fini(&f);
	heap_blocks_fini(&blocks);
}

static void once_copied_the_table_may_change(void **state)
{
	struct heap_blocks blocks = { 0 };
	struct heap_finder f = { 0 };
	struct heap_block old;
	uint64_t end;

	(void)state;
	end = add_many(&blocks);
	heap_finder_begin(&f, &blocks);
	assert_true(heap_finder_go_on(&f));
	heap_finder_settle(&f);
	assert_true(heap_blocks_remove(&blocks, 16, &old));
	for (uint64_t i = 0; i < N; i++) /* into another table */
		add(&blocks, end + i, 1);
	while (heap_finder_go_on(&f))
		;
	assert_int_equal(f.blocks.n, N);
	assert_int_equal(heap_finder_at(&f, 16), 0);
	assert_int_equal(heap_finder_at(&f, end + 1), HEAP_FINDER_NONE);
	heap_finder_fini(&f);
	heap_blocks_fini(&blocks);
}

static void nothing_is_in_no_blocks(void **state)
{
	struct heap_blocks blocks = { 0 };
	struct heap_finder f = { 0 };

	(void)state;
	heap_finder_begin(&f, &blocks);
	while (heap_finder_go_on(&f))
		;
	assert_int_equal(heap_finder_at(&f, 16), HEAP_FINDER_NONE);
	assert_int_equal(heap_finder_above(&f, 16), 0);
	heap_finder_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_found_by_every_address_in_them),
		cmocka_unit_test(once_copied_the_table_may_change),
		cmocka_unit_test(nothing_is_in_no_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
