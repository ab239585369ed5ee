/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_roots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "400000-401000 r--p 00000000 08:01 7 /bin/x\n"
			   "401000-402000 rw-p 00001000 08:01 7 /bin/x\n"
			   "402000-403000 rw-p 00000000 00:00 0 \n"
			   "500000-600000 rw-p 00000000 00:00 0 [heap]\n"
			   "700000-710000 rw-p 00000000 00:00 0 \n"
			   "711000-712000 ---p 00000000 00:00 0 \n"
			   "712000-720000 rw-p 00000000 00:00 0 \n"
			   "8000000-8021000 rw-p 00000000 00:00 0 \n"
			   "8021000-c000000 ---p 00000000 00:00 0 \n"
			   "ff000000-ff100000 rw-p 00000000 00:00 0 [stack]\n";

/* The head of an area of glibc's. */
static bool read_memory(void *ctx, uint64_t address, void *to, size_t size)
{
	const uint64_t head[4] = { 0x8000030, 0, 0x21000, 0x21000 };

	(void)ctx;
	memset(to, 0, size);
	if (address == 0x8000000 && size == sizeof(head))
		memcpy(to, head, size);
	return true;
}

struct world {
	struct heap_finder finder;
	struct heap_maps maps;
	struct heap_ranges ours, roots;
};

static void find_of(struct world *w, const char *maps, bool is_glibc,
		    const uint64_t *stacks, size_t n)
{
	struct heap_roots_of of = { .is_glibc = is_glibc,
				    .finder = &w->finder,
				    .maps = &w->maps,
				    .ours = &w->ours };

	vec_clear(&w->roots.all);
	heap_roots_of_text(&of, maps, strlen(maps), stacks, n, read_memory, NULL,
			   &w->roots);
}

static void find(struct world *w, bool is_glibc, const uint64_t *stacks, size_t n)
{
	find_of(w, text, is_glibc, stacks, n);
}

static void done(struct world *w)
{
	heap_finder_fini(&w->finder);
	heap_maps_fini(&w->maps);
	heap_ranges_fini(&w->ours);
	heap_ranges_fini(&w->roots);
	free(w);
}

static void check(const struct world *w, const struct heap_range *want, size_t n)
{
	assert_int_equal(w->roots.all.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(w->roots.all.at[i].start, want[i].start);
		assert_int_equal(w->roots.all.at[i].end, want[i].end);
	}
}

static struct world *world(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_int_equal(heap_ledger_site(&w->maps.ledger, 1, 0), 0);
	return w;
}

static void what_can_be_written_counts_but_not_the_allocators(void **state)
{
	const uint64_t stack = 0xff080004;
	struct world *w = world();

	(void)state;
	find(w, true, &stack, 1);
	check(w,
	      (const struct heap_range[]){ { 0x401000, 0x402000 },
					   { 0x402000, 0x403000 },
					   { 0x700000, 0x710000 },
					   { 0x712000, 0x720000 },
					   { 0xff080000, 0xff100000 } },
	      5);
	/* Of other libraries the areas are not known. */
	find(w, false, NULL, 0);
	check(w,
	      (const struct heap_range[]){ { 0x401000, 0x402000 },
					   { 0x402000, 0x403000 },
					   { 0x500000, 0x600000 },
					   { 0x700000, 0x710000 },
					   { 0x712000, 0x720000 },
					   { 0x8000000, 0x8021000 },
					   { 0xff000000, 0xff100000 } },
	      7);
	done(w);
}

static void data_is_no_stack_though_a_handler_has_one_there(void **state)
{
	const uint64_t stacks[] = { 0x402800, 0x718000, 0x708000 };
	struct world *w = world();

	(void)state;
	/* The second lies in what the program has mapped for other things, too. */
	heap_maps_take(&w->maps, 1, 0, 0x700000, 0x10000);
	find(w, true, stacks, 3);
	check(w,
	      (const struct heap_range[]){ { 0x401000, 0x402000 },
					   { 0x402000, 0x403000 },
					   { 0x700000, 0x710000 },
					   { 0x718000, 0x720000 },
					   { 0xff000000, 0xff100000 } },
	      5);
	done(w);
}

/* A library that is loaded after threads were made lies right below their stacks. */
static void what_follows_a_file_is_data_of_it_only_next_to_data(void **state)
{
	static const char maps[] = "500000-501000 rw-p 00001000 08:01 7 /lib/y\n"
				   "501000-502000 rw-p 00000000 00:00 0 \n"
				   "502000-503000 ---p 00000000 00:00 0 \n"
				   "503000-600000 rw-p 00000000 00:00 0 \n"
				   "600000-601000 r--p 00000000 08:01 7 /lib/z\n"
				   "601000-700000 rw-p 00000000 00:00 0 \n"
				   "700000-701000 rw-s 00000000 00:01 9 /dev/shm/a\n"
				   "701000-800000 rw-p 00000000 00:00 0 \n";
	const uint64_t stacks[] = { 0x501800, 0x5f0000, 0x6f0000, 0x7f0000 };
	struct world *w = world();

	(void)state;
	find_of(w, maps, true, stacks, 4);
	check(w,
	      (const struct heap_range[]){ { 0x500000, 0x501000 },
					   { 0x501000, 0x502000 },
					   { 0x5f0000, 0x600000 },
					   { 0x601000, 0x700000 },
					   { 0x700000, 0x701000 },
					   { 0x701000, 0x800000 } },
	      6);
	done(w);
}

/* Its guard is but a mark in it, or it has none. */
static void a_stack_that_may_be_one_with_other_memory_counts_as_a_whole(void **state)
{
	static const char maps[] = "500000-501000 ---p 00000000 00:00 0 \n"
				   "501000-600000 rw-p 00000000 00:00 0 \n"
				   "600000-700000 rw-p 00000000 00:00 0 [anon:x]\n"
				   "800000-900000 rw-p 00000000 00:00 0 \n";
	const uint64_t stacks[] = { 0x580000, 0x680000, 0x880000 };
	struct world *w = world();

	(void)state;
	find_of(w, maps, true, stacks, 3);
	check(w,
	      (const struct heap_range[]){ { 0x580000, 0x600000 },
					   { 0x600000, 0x700000 },
					   { 0x800000, 0x900000 } },
	      3);
	done(w);
}

static void whoever_maps_memory_for_blocks_is_an_allocator(void **state)
{
	struct heap_blocks blocks = { 0 };
	struct heap_block old;
	struct world *w = world();

	(void)state;
	heap_blocks_add(&blocks,
			&(struct heap_block){ .address = 0x702000, .size_bytes = 8 },
			&old);
	heap_finder_begin(&w->finder, &blocks);
	while (heap_finder_go_on(&w->finder))
		;
	heap_maps_take(&w->maps, 1, 0, 0x700000, 0x4000);
	heap_maps_take(&w->maps, 1, 0, 0x580000, 0x1000); /* by sbrk */
	heap_ranges_add(&w->ours, 0x708000, 0x709000);
	heap_ranges_add(&w->ours, 0x401000, 0x401800);
	find(w, true, NULL, 0);
	check(w,
	      (const struct heap_range[]){ { 0x401800, 0x402000 },
					   { 0x402000, 0x403000 },
					   { 0x580000, 0x581000 },
					   { 0x704000, 0x708000 },
					   { 0x709000, 0x710000 },
					   { 0x712000, 0x720000 },
					   { 0xff000000, 0xff100000 } },
	      7);
	heap_blocks_fini(&blocks);
	done(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_written_counts_but_not_the_allocators),
		cmocka_unit_test(data_is_no_stack_though_a_handler_has_one_there),
		cmocka_unit_test(what_follows_a_file_is_data_of_it_only_next_to_data),
		cmocka_unit_test(
			a_stack_that_may_be_one_with_other_memory_counts_as_a_whole),
		cmocka_unit_test(whoever_maps_memory_for_blocks_is_an_allocator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
