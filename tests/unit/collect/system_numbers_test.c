/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/system_numbers.h"
#include "wire/stack_record.h"
#include "wire/stack_rows.h"

#define SECOND_NS UINT64_C(1000000000)
#define IDLE_NS	  (10 * SECOND_NS)
#define SPARE	  100
#define SLOTS	  STACK_ROWS_IMAGES_MAX

/* The kernel's side, played by the test. */
struct fixture {
	struct system_numbers_maps maps;
	struct stack_image *images;
	uint64_t *offers;
	uint32_t n_given, n_taken, n_offered;
	struct system_numbers *numbers;
	VEC(uint32_t) forgotten;
	uint64_t now_ns;
};

static void on_forget(void *ctx, uint32_t number)
{
	struct fixture *f = ctx;

	*vec_push(&f->forgotten) = number;
}

static int make_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = flags);

	return bpf_map_create(type, "test", key, value, SLOTS, &o);
}

static void *map_memory(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(at != MAP_FAILED);
	return at;
}

static void set_up(struct fixture *f)
{
	struct system_numbers_settings settings = {
		.n_spare = SPARE, .idle_ns = IDLE_NS, .ctx = f, .forget = on_forget
	};
	struct err e;

	*f = (struct fixture){ .n_given = STACK_RECORD_FILES, .now_ns = SECOND_NS };
	f->maps.files = make_map(BPF_MAP_TYPE_HASH, sizeof(struct stack_rows_file), 4, 0);
	if (f->maps.files < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS)) {
		print_message("# BPF maps are not permitted here\n");
		skip();
	}
	f->maps.images = make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(struct stack_image),
				  BPF_F_MMAPABLE);
	f->maps.offers = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, BPF_F_MMAPABLE);
	f->images = map_memory(f->maps.images, SLOTS * sizeof(*f->images));
	f->offers = map_memory(f->maps.offers, SLOTS * sizeof(*f->offers));
	f->maps.n_given = &f->n_given;
	f->maps.n_taken = &f->n_taken;
	f->maps.n_offered = &f->n_offered;
	assert_int_equal(system_numbers_new(&f->maps, &settings, &f->numbers, &e), 0);
}

static void tear_down(struct fixture *f)
{
	system_numbers_free(f->numbers);
	munmap(f->images, SLOTS * sizeof(*f->images));
	munmap(f->offers, SLOTS * sizeof(*f->offers));
	vec_fini(&f->forgotten);
	closep(&f->maps.files);
	closep(&f->maps.images);
	closep(&f->maps.offers);
}

static void name_file(struct fixture *f, uint64_t inode, uint32_t number)
{
	struct stack_rows_file file = { .inode = inode };

	assert_int_equal(bpf_map_update_elem(f->maps.files, &file, &number, BPF_NOEXIST),
			 0);
}

static uint32_t number_of(struct fixture *f, uint64_t inode)
{
	struct stack_rows_file file = { .inode = inode };
	uint32_t number = 0;

	return bpf_map_lookup_elem(f->maps.files, &file, &number) == 0 ? number : 0;
}

/* Files of inode = number, all that there can be but `left`. */
static void name_all_but(struct fixture *f, uint32_t left)
{
	for (; f->n_given < SLOTS - left; f->n_given++)
		name_file(f, f->n_given, f->n_given);
}

static void pass(struct fixture *f, uint64_t seconds)
{
	for (uint64_t i = 0; i < seconds; i++)
		system_numbers_tick(f->numbers, f->now_ns += SECOND_NS);
}

static void numbers_are_kept_while_there_are_enough(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	name_all_but(&f, SPARE);
	pass(&f, 100);
	assert_int_equal(f.n_offered, 0);
	assert_int_equal(number_of(&f, 5), 5);
	tear_down(&f);
}

static void what_was_met_longest_ago_is_withdrawn_and_offered_after_drains(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	name_all_but(&f, SPARE - 1);
	pass(&f, 2);
	/* All but ten are met again later. */
	for (uint32_t i = STACK_RECORD_FILES + 10; i < f.n_given; i++)
		f.images[i].is_used = STACK_IMAGE_IS_USED | STACK_IMAGE_IS_MET;
	pass(&f, 9);
	while (number_of(&f, STACK_RECORD_FILES))
		pass(&f, 1);
	/* Who remembers the number sees it; but samples of it may still come. */
	assert_int_equal(f.images[STACK_RECORD_FILES].generation, 1);
	assert_int_equal(f.n_offered, 0);
	assert_int_equal(f.forgotten.n, 0);
	pass(&f, 4);
	assert_true(f.n_offered >= 1 && f.n_offered <= 10);
	assert_int_equal(f.forgotten.n, f.n_offered);
	for (uint32_t i = 0; i < f.n_offered; i++)
		assert_int_equal(f.offers[i], f.forgotten.at[i] + SLOTS);
	assert_int_equal(number_of(&f, STACK_RECORD_FILES + 10), STACK_RECORD_FILES + 10);
	/* The other reader's mark is left alone. */
	assert_true(f.images[STACK_RECORD_FILES + 10].is_used & STACK_IMAGE_IS_USED);
	tear_down(&f);
}

static void what_is_met_all_the_time_keeps_its_number(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	name_all_but(&f, 0);
	for (unsigned s = 0; s < 30; s++) {
		for (uint32_t i = 0; i < SLOTS; i++)
			f.images[i].is_used = STACK_IMAGE_IS_MET;
		pass(&f, 1);
	}
	assert_int_equal(f.n_offered, 0);
	tear_down(&f);
}

static void a_number_that_no_file_got_is_found_again(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	name_all_but(&f, SPARE / 2);
	f.n_given++; /* taken by a CPU that came too late */
	for (unsigned s = 0; s < 20; s++) {
		for (uint32_t i = 0; i + 1 < f.n_given; i++)
			f.images[i].is_used = STACK_IMAGE_IS_MET;
		pass(&f, 1);
	}
	assert_int_equal(f.n_offered, 1);
	assert_int_equal(f.offers[0], f.n_given - 1 + SLOTS);
	/* On offer it is nobody's either, and yet not lost. */
	pass(&f, 1);
	assert_int_equal(f.n_offered, 1);
	tear_down(&f);
}

static void generations_begin_anew_after_the_last(void **state)
{
	struct fixture f;
	uint32_t slot = STACK_RECORD_FILES;
	uint32_t last = (STACK_ROWS_GENERATIONS - 1) * SLOTS + slot;

	(void)state;
	set_up(&f);
	f.n_given = SLOTS;
	f.images[slot].generation = STACK_ROWS_GENERATIONS - 1;
	name_file(&f, 1, last);
	for (unsigned s = 0; s < 30 && !f.n_offered; s++) {
		for (uint32_t i = slot + 1; i < SLOTS; i++)
			f.images[i].is_used = STACK_IMAGE_IS_MET;
		pass(&f, 1);
	}
	assert_int_equal(f.forgotten.at[0], last);
	assert_int_equal(f.offers[0], slot);
	assert_true(last < STACK_RECORD_ADDRESS);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_kept_while_there_are_enough),
		cmocka_unit_test(
			what_was_met_longest_ago_is_withdrawn_and_offered_after_drains),
		cmocka_unit_test(what_is_met_all_the_time_keeps_its_number),
		cmocka_unit_test(a_number_that_no_file_got_is_found_again),
		cmocka_unit_test(generations_begin_anew_after_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
