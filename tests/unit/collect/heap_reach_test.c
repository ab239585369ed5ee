/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_reach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A process' memory: words from BASE on. */
#define BASE	UINT64_C(0x10000000)
#define N_WORDS 4096
#define AT(i)	(BASE + (uint64_t)(i)*8)

struct memory {
	uint64_t words[N_WORDS];
	struct heap_blocks blocks;
	struct heap_ranges roots;
	struct heap_vtables tables;
	struct heap_finder finder;
	struct heap_reach reach;
};

static bool read_memory(void *ctx, uint64_t address, void *to, size_t size)
{
	struct memory *m = ctx;

	if (address < BASE || size > sizeof(m->words) ||
	    address - BASE > sizeof(m->words) - size)
		return false;
	memcpy(to, (const char *)m->words + (address - BASE), size);
	return true;
}

/* The lower half of a page of zeroes is what nothing is in. */
static uint64_t skip_memory(void *ctx, uint64_t address, uint64_t end)
{
	const struct memory *m = ctx;

	while (address < end && address >= BASE && address < AT(N_WORDS) &&
	       address % 2048 == 0 && !m->words[(address - BASE) / 8])
		address += 8;
	return address;
}

/* Words of a block. */
static void block(struct memory *m, size_t at, size_t n)
{
	struct heap_block b = { .address = AT(at), .size_bytes = n * 8 }, old;

	assert_true(heap_blocks_add(&m->blocks, &b, &old));
}

static void put_in_order(struct memory *m)
{
	heap_finder_begin(&m->finder, &m->blocks);
	while (heap_finder_go_on(&m->finder))
		;
}

static void look(struct memory *m)
{
	put_in_order(m);
	heap_reach_begin(&m->reach, &m->finder, &m->roots, &m->tables, read_memory,
			 skip_memory, m);
	while (heap_reach_go_on(&m->reach))
		;
}

static enum heap_reach_state state_at(const struct memory *m, size_t at)
{
	size_t i = heap_finder_at(&m->finder, AT(at));

	assert_true(i != HEAP_FINDER_NONE);
	return m->reach.states[i];
}

static struct memory *memory(void)
{
	struct memory *m = calloc(1, sizeof(*m));

	heap_ranges_add(&m->roots, AT(0), AT(10));
	return m;
}

static void done(struct memory *m)
{
	heap_reach_fini(&m->reach);
	heap_finder_fini(&m->finder);
	heap_blocks_fini(&m->blocks);
	heap_ranges_fini(&m->roots);
	heap_vtables_fini(&m->tables);
	free(m);
}

static void what_a_root_leads_to_is_reached(void **state)
{
	struct memory *m = memory();

	(void)state;
	block(m, 100, 4);
	block(m, 200, 4);
	block(m, 300, 4);
	m->words[9] = AT(100);
	m->words[103] = AT(200);
	m->words[200] = AT(100);
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 200), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 300), HEAP_REACH_LOST);
	done(m);
}

static void what_a_register_leads_to_is_reached(void **state)
{
	struct memory *m = memory();
	const uint64_t registers[] = { 7, AT(100), AT(301) };

	(void)state;
	block(m, 100, 4);
	block(m, 200, 4);
	block(m, 300, 4);
	block(m, 400, 4);
	m->words[103] = AT(200);
	put_in_order(m);
	heap_reach_begin(&m->reach, &m->finder, &m->roots, &m->tables, read_memory,
			 skip_memory, m);
	heap_reach_follow(&m->reach, registers, 3);
	while (heap_reach_go_on(&m->reach))
		;
	assert_int_equal(state_at(m, 100), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 200), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 300), HEAP_REACH_POSSIBLY);
	assert_int_equal(state_at(m, 400), HEAP_REACH_LOST);
	done(m);
}

static void a_pointer_within_makes_it_possible_for_all_behind(void **state)
{
	struct memory *m = memory();

	(void)state;
	block(m, 100, 4);
	block(m, 200, 4);
	block(m, 300, 4);
	m->words[0] = AT(102);
	m->words[100] = AT(200);
	m->words[200] = AT(300);
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_POSSIBLY);
	assert_int_equal(state_at(m, 300), HEAP_REACH_POSSIBLY);
	done(m);
}

static void another_way_there_makes_it_certain(void **state)
{
	struct memory *m = memory();

	(void)state;
	block(m, 100, 4);
	block(m, 200, 4);
	m->words[0] = AT(102);
	m->words[1] = AT(100);
	m->words[100] = AT(200);
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 200), HEAP_REACH_REACHED);
	done(m);
}

static void behind_a_count_is_where_an_array_begins(void **state)
{
	struct memory *m = memory();

	(void)state;
	block(m, 100, 7);
	block(m, 200, 7);
	m->words[0] = AT(101);
	m->words[1] = AT(201);
	m->words[100] = 3; /* of two words each */
	m->words[200] = 5;
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 200), HEAP_REACH_POSSIBLY);
	done(m);
}

/* A file's mapping from word 1000 on, code from 1100 on. */
static void map_file(struct memory *m)
{
	heap_ranges_add(&m->tables.files, AT(1000), AT(1200));
	heap_ranges_add(&m->tables.code, AT(1100), AT(1200));
	m->words[1000] = m->words[1002] = m->words[1011] = AT(1100);
	m->words[1003] = m->words[1010] = AT(1150);
}

static void at_a_base_class_an_object_is_pointed_to_as_a_whole(void **state)
{
	struct memory *m = memory();

	(void)state;
	map_file(m);
	for (size_t at = 100; at <= 500; at += 100)
		block(m, at, 7);
	m->words[100] = m->words[200] = m->words[400] = AT(1002);
	m->words[102] = m->words[302] = m->words[502] = AT(1010);
	m->words[0] = AT(102);
	m->words[1] = AT(203);	  /* nothing begins there */
	m->words[2] = AT(302);	  /* nor does what it is in */
	m->words[402] = AT(1011); /* one function only */
	m->words[3] = AT(402);
	m->words[500] = AT(1002);
	m->words[4] = AT(502) + 4;
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 200), HEAP_REACH_POSSIBLY);
	assert_int_equal(state_at(m, 300), HEAP_REACH_POSSIBLY);
	assert_int_equal(state_at(m, 400), HEAP_REACH_POSSIBLY);
	assert_int_equal(state_at(m, 500), HEAP_REACH_POSSIBLY);
	done(m);
}

static void at_its_characters_a_string_is_pointed_to_as_a_whole(void **state)
{
	struct memory *m = memory();
	const uint64_t heads[][2] = { { 5, 31 }, { 5, 30 }, { 32, 31 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		size_t at = 100 * (i + 1);

		block(m, at, 7); /* 24 and 31 characters, and the one that ends them */
		m->words[at] = heads[i][0];
		m->words[at + 1] = heads[i][1];
		m->words[i] = AT(at + 3);
	}
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 200), HEAP_REACH_POSSIBLY);
	assert_int_equal(state_at(m, 300), HEAP_REACH_POSSIBLY);
	done(m);
}

static void of_what_is_lost_only_the_first_is_so_by_itself(void **state)
{
	struct memory *m = memory();

	(void)state;
	block(m, 100, 4);
	block(m, 200, 4);
	block(m, 300, 4);
	block(m, 400, 4);
	/* The last one leads to the first, which was a leader until then. */
	m->words[100] = AT(200);
	m->words[400] = AT(100);
	m->words[300] = AT(300);
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_INDIRECTLY);
	assert_int_equal(state_at(m, 200), HEAP_REACH_INDIRECTLY);
	assert_int_equal(state_at(m, 300), HEAP_REACH_LOST);
	assert_int_equal(state_at(m, 400), HEAP_REACH_LOST);
	done(m);
}

static void of_a_circle_one_is_lost_and_the_others_with_it(void **state)
{
	struct memory *m = memory();

	(void)state;
	block(m, 100, 4);
	block(m, 200, 4);
	m->words[100] = AT(200);
	m->words[200] = AT(100);
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_LOST);
	assert_int_equal(state_at(m, 200), HEAP_REACH_INDIRECTLY);
	done(m);
}

static void blocks_among_roots_are_none(void **state)
{
	struct memory *m = memory();

	(void)state;
	heap_ranges_add(&m->roots, AT(90), AT(310));
	block(m, 100, 4);
	block(m, 200, 4);
	m->words[101] = AT(200);
	m->words[104] = AT(100); /* behind its end */
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 200), HEAP_REACH_REACHED);
	done(m);

	m = memory();
	heap_ranges_add(&m->roots, AT(90), AT(310));
	block(m, 100, 4);
	block(m, 200, 4);
	m->words[101] = AT(200);
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_LOST);
	assert_int_equal(state_at(m, 200), HEAP_REACH_INDIRECTLY);
	done(m);
}

static void nobody_has_to_believe_how_large_a_block_is(void **state)
{
	struct memory *m = memory();
	struct heap_block b = { .address = AT(100), .size_bytes = UINT64_MAX - 5 }, old;

	(void)state;
	assert_true(heap_blocks_add(&m->blocks, &b, &old));
	m->words[0] = AT(4000);
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_POSSIBLY);
	done(m);
}

static void a_block_of_nothing_is_found_at_its_address(void **state)
{
	struct memory *m = memory();

	(void)state;
	block(m, 100, 0);
	block(m, 102, 1);
	m->words[0] = AT(100);
	look(m);
	assert_int_equal(state_at(m, 100), HEAP_REACH_REACHED);
	assert_int_equal(state_at(m, 102), HEAP_REACH_LOST);
	assert_true(heap_finder_at(&m->finder, AT(101)) == HEAP_FINDER_NONE);
	assert_int_equal(heap_finder_above(&m->finder, AT(101)), 1);
	done(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_root_leads_to_is_reached),
		cmocka_unit_test(what_a_register_leads_to_is_reached),
		cmocka_unit_test(a_pointer_within_makes_it_possible_for_all_behind),
		cmocka_unit_test(another_way_there_makes_it_certain),
		cmocka_unit_test(behind_a_count_is_where_an_array_begins),
		cmocka_unit_test(at_a_base_class_an_object_is_pointed_to_as_a_whole),
		cmocka_unit_test(at_its_characters_a_string_is_pointed_to_as_a_whole),
		cmocka_unit_test(of_what_is_lost_only_the_first_is_so_by_itself),
		cmocka_unit_test(of_a_circle_one_is_lost_and_the_others_with_it),
		cmocka_unit_test(blocks_among_roots_are_none),
		cmocka_unit_test(nobody_has_to_believe_how_large_a_block_is),
		cmocka_unit_test(a_block_of_nothing_is_found_at_its_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
