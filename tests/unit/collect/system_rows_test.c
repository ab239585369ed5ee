/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "collect/system_rows.h"
#include "unwind/unwind_image.h"

#define SECOND_NS    UINT64_C(1000000000)
#define FIRST_FILLED 16 /* what tests load by themselves is below */
#define SMALLEST     1	/* byte of limit: a pool of 256 pages is had all the same */

/* Maps as the programs have them, and this program's own table to be loaded. */
struct fixture {
	struct system_rows_maps maps;
	const struct stack_image *images;
	struct system_rows *rows;
	struct row_pack pack;
};

static int make_map(enum bpf_map_type type, uint32_t value_size, uint32_t n)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(type, "test", sizeof(uint32_t), value_size, n, &o);
}

static int make_pools(void)
{
	int inner = make_map(BPF_MAP_TYPE_ARRAY, STACK_ROWS_PAGE_WORDS * 4,
			     STACK_ROWS_POOL_PAGES);
	LIBBPF_OPTS(bpf_map_create_opts, o, .inner_map_fd = (uint32_t)inner);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "test", 4, 4,
				STACK_ROWS_POOLS_MAX, &o);

	closep(&inner);
	return fd;
}

static void open_table(struct fixture *f)
{
	own(fclosep) FILE *self = fopen("/proc/self/exe", "rb");
	own(unwind_image_freep) struct unwind_image *file = NULL;
	own(row_table_freep) struct row_table *table = NULL;
	struct err e;

	assert_non_null(self);
	assert_int_equal(unwind_image_open(fileno(self), "self", &file, &e), 0);
	assert_int_equal(row_table_build(file, &table, &e), 0);
	assert_int_equal(row_pack_build(table, file, &f->pack, &e), 0);
}

static void set_up_with(struct fixture *f, size_t limit_bytes, size_t first_bytes)
{
	struct err e;

	*f = (struct fixture){ .maps = { .pools = make_pools() } };
	if (f->maps.pools < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS)) {
		print_message("# BPF maps are not permitted here\n");
		skip();
	}
	f->maps.rules = make_map(BPF_MAP_TYPE_ARRAY, sizeof(struct stack_rule),
				 STACK_ROWS_RULES_MAX);
	f->maps.images = make_map(BPF_MAP_TYPE_ARRAY, sizeof(struct stack_image),
				  STACK_ROWS_IMAGES_MAX);
	assert_true(f->maps.pools >= 0 && f->maps.rules >= 0 && f->maps.images >= 0);
	f->images = mmap(NULL, STACK_ROWS_IMAGES_MAX * sizeof(*f->images),
			 PROT_READ | PROT_WRITE, MAP_SHARED, f->maps.images, 0);
	assert_true(f->images != MAP_FAILED);
	assert_int_equal(
		system_rows_new(&f->maps, limit_bytes, first_bytes, &f->rows, &e), 0);
	system_rows_tick(f->rows, SECOND_NS);
	open_table(f);
}

static void set_up(struct fixture *f, size_t limit_bytes)
{
	set_up_with(f, limit_bytes, 0);
}

static void tear_down(struct fixture *f)
{
	system_rows_free(f->rows);
	row_pack_fini(&f->pack);
	munmap((void *)(uintptr_t)f->images, STACK_ROWS_IMAGES_MAX * sizeof(*f->images));
	closep(&f->maps.pools);
	closep(&f->maps.rules);
	closep(&f->maps.images);
}

static int load(struct fixture *f, uint32_t image)
{
	struct err e;

	return system_rows_load(f->rows, image, &f->pack, &e);
}

static uint32_t word(const struct fixture *f, uint32_t page, uint32_t at)
{
	uint32_t words[STACK_ROWS_PAGE_WORDS], pool = page / STACK_ROWS_POOL_PAGES, id;
	uint32_t key = page % STACK_ROWS_POOL_PAGES;
	own(closep) int fd = -1;

	assert_int_equal(bpf_map_lookup_elem(f->maps.pools, &pool, &id), 0);
	fd = bpf_map_get_fd_by_id(id);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &key, words), 0);
	return words[at];
}

/* So many copies of the table as go in; the first that does not is returned. */
static uint32_t fill(struct fixture *f)
{
	uint32_t image = FIRST_FILLED;

	while (load(f, image) == 0)
		image++;
	return image;
}

static void the_kernel_sees_what_was_loaded(unused void **state)
{
	const struct stack_image *image;
	struct fixture f;
	uint32_t entry;

	set_up(&f, SMALLEST);
	image = &f.images[7];
	assert_int_equal(load(&f, 7), 0);
	assert_int_equal(image->state, STACK_IMAGE_READY);
	assert_true(image->n_blocks > 0 && image->index_page > 0);
	entry = word(&f, image->index_page, 0);
	assert_true(entry >> 16 > image->index_page);
	/* behind the number of rows, the first row covers the block's start */
	assert_true(word(&f, entry >> 16, entry & 0xffff) > 0);
	assert_int_equal(word(&f, entry >> 16, (entry & 0xffff) + 1) & 0xffff, 0);
	tear_down(&f);
}

static unsigned count_pools(const struct fixture *f)
{
	uint32_t pool = 0, id;

	while (bpf_map_lookup_elem(f->maps.pools, &pool, &id) == 0)
		pool++;
	return pool;
}

/* Each told of by its own number: what lies in one is not in another. */
static void room_that_is_there_from_the_start_is_filled_first(unused void **state)
{
	const size_t pool_bytes =
		(size_t)STACK_ROWS_POOL_PAGES * STACK_ROWS_PAGE_WORDS * 4;
	uint32_t image = FIRST_FILLED;
	const struct stack_image *last;
	struct fixture f;

	set_up_with(&f, 4 * pool_bytes, 3 * pool_bytes);
	assert_int_equal(count_pools(&f), 3);
	do
		assert_int_equal(load(&f, image), 0);
	while (f.images[image++].index_page < 2 * STACK_ROWS_POOL_PAGES);
	assert_int_equal(count_pools(&f), 3);
	last = &f.images[image - 1];
	assert_true(word(&f, last->index_page, 0) >> 16 > last->index_page);
	fill(&f);
	assert_int_equal(count_pools(&f), 4);
	tear_down(&f);
}

static void no_more_is_taken_than_may_be(unused void **state)
{
	struct fixture f;

	set_up_with(&f, SMALLEST, SIZE_MAX / 2);
	assert_int_equal(count_pools(&f), 1);
	tear_down(&f);
}

static void what_has_no_room_is_asked_for_again(unused void **state)
{
	struct fixture f;
	uint32_t refused;

	set_up(&f, SMALLEST);
	refused = fill(&f);
	assert_true(refused > FIRST_FILLED + 1);
	assert_int_equal(f.images[refused].state, STACK_IMAGE_NEW);
	tear_down(&f);
}

static void the_longest_unused_goes_first(unused void **state)
{
	struct stack_image *images;
	struct fixture f;
	uint32_t n = 0;

	set_up(&f, SMALLEST);
	images = (struct stack_image *)(uintptr_t)f.images;
	for (n = 2; n < 6; n++)
		assert_int_equal(load(&f, n), 0);
	images[2].is_used = images[4].is_used = images[5].is_used = 1;
	system_rows_tick(f.rows, 2 * SECOND_NS);
	assert_int_equal(images[2].is_used, 0); /* noted */
	fill(&f);
	assert_int_equal(images[3].state, STACK_IMAGE_NEW);
	assert_int_equal(images[2].state, STACK_IMAGE_READY);
	assert_int_equal(images[4].state, STACK_IMAGE_READY);
	tear_down(&f);
}

static void pages_that_went_are_not_written_to_for_a_while(unused void **state)
{
	struct fixture f;
	uint32_t refused;

	set_up(&f, SMALLEST);
	system_rows_tick(f.rows, 10 * SECOND_NS);
	refused = fill(&f);			    /* this made room ... */
	assert_int_not_equal(load(&f, refused), 0); /* ... that a walk may still read */
	system_rows_tick(f.rows, 12 * SECOND_NS);
	assert_int_equal(load(&f, refused), 0);
	assert_int_equal(f.images[refused].state, STACK_IMAGE_READY);
	tear_down(&f);
}

static void the_next_goes_on_with_what_was_loaded(unused void **state)
{
	struct system_rows *next;
	struct stack_image *images;
	struct fixture f;
	uint32_t full, first;
	struct err e;

	set_up(&f, SMALLEST);
	images = (struct stack_image *)(uintptr_t)f.images;
	assert_int_equal(load(&f, 7), 0);
	first = images[7].index_page;
	images[9].state = STACK_IMAGE_REQUESTED;
	images[10].state = STACK_IMAGE_NO_ROWS;
	system_rows_free(f.rows);
	assert_int_equal(system_rows_take(&f.maps, SMALLEST, &next, &e), 0);
	f.rows = next;
	assert_int_equal(system_rows_n_loaded(next), 1);
	assert_int_equal(images[7].state, STACK_IMAGE_READY);
	assert_int_equal(images[9].state, STACK_IMAGE_NEW);
	assert_int_equal(images[10].state, STACK_IMAGE_NO_ROWS);
	assert_int_equal(load(&f, 8), 0);
	assert_int_equal(images[8].index_page, first + f.images[7].n_pages);
	/* Rules were found again: those of both are the same. */
	assert_int_equal(word(&f, images[8].index_page + 1, 1),
			 word(&f, images[7].index_page + 1, 1));
	full = fill(&f);
	assert_true(full > FIRST_FILLED);
	tear_down(&f);
}

static void what_is_loaded_twice_has_its_pages_once(unused void **state)
{
	struct fixture f;

	set_up(&f, SMALLEST);
	assert_int_equal(load(&f, 7), 0);
	assert_int_equal(load(&f, 7), 0);
	assert_int_equal(f.images[7].state, STACK_IMAGE_READY);
	assert_int_equal(system_rows_n_loaded(f.rows), 1);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_sees_what_was_loaded),
		cmocka_unit_test(the_next_goes_on_with_what_was_loaded),
		cmocka_unit_test(what_is_loaded_twice_has_its_pages_once),
		cmocka_unit_test(room_that_is_there_from_the_start_is_filled_first),
		cmocka_unit_test(no_more_is_taken_than_may_be),
		cmocka_unit_test(what_has_no_room_is_asked_for_again),
		cmocka_unit_test(the_longest_unused_goes_first),
		cmocka_unit_test(pages_that_went_are_not_written_to_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
