/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "collect/row_cache.h"
#include "collect/row_pack_file.h"
#include "unwind/unwind_image.h"

#define LAYOUT	  7
#define MAKER	  0xbeef
#define UNBOUNDED (UINT64_C(1) << 40)

static char directory[] = "/tmp/row_cache_test.XXXXXX";

static int make_directory(unused void **state)
{
	strcpy(directory + sizeof(directory) - 7, "XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(unused void **state)
{
	own(freep) char *command = xasprintf("rm -rf '%s'", directory);

	return system(command);
}

static void pack_self(struct row_pack *ret)
{
	own(closep) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	own(unwind_image_freep) struct unwind_image *u = NULL;
	own(row_table_freep) struct row_table *t = NULL;
	struct err e;

	assert_int_equal(unwind_image_open(fd, "self", &u, &e), 0);
	assert_int_equal(row_table_build(u, &t, &e), 0);
	assert_int_equal(row_pack_build(t, u, ret, &e), 0);
}

static char *path_of(const char *key)
{
	return xasprintf("%s/%s.0000beef.pack", directory, key);
}

static void expect_equal(const struct row_pack *a, const struct row_pack *b)
{
	assert_int_equal(a->first_block, b->first_block);
	assert_int_equal(a->n_blocks, b->n_blocks);
	assert_int_equal(a->n_index_pages, b->n_index_pages);
	assert_int_equal(a->rules.n, b->rules.n);
	assert_int_equal(a->words.n, b->words.n);
	assert_memory_equal(a->rules.at, b->rules.at, a->rules.n * sizeof(*a->rules.at));
	assert_memory_equal(a->words.at, b->words.at, a->words.n * sizeof(*a->words.at));
}

static void what_was_kept_is_found(unused void **state)
{
	own(freep) char *deep = xasprintf("%s/a/b", directory);
	own(row_cache_freep) struct row_cache *c = row_cache_new(deep, UNBOUNDED, MAKER);
	own(row_pack_fini) struct row_pack p = { 0 }, found = { 0 };

	pack_self(&p);
	assert_false(row_cache_find(c, "01ab", LAYOUT, &found));
	row_cache_keep(c, "01ab", LAYOUT, &p);
	assert_true(row_cache_find(c, "01ab", LAYOUT, &found));
	expect_equal(&found, &p);
}

static void a_file_without_rows_is_remembered_as_such(unused void **state)
{
	own(row_cache_freep) struct row_cache *c =
		row_cache_new(directory, UNBOUNDED, MAKER);
	struct row_pack p = { 0 }, found = { .n_blocks = 9 };

	row_cache_keep(c, "01ab", LAYOUT, &p);
	assert_true(row_cache_find(c, "01ab", LAYOUT, &found));
	assert_int_equal(found.n_blocks, 0);
}

static void a_file_that_has_its_code_elsewhere_is_another(unused void **state)
{
	own(row_cache_freep) struct row_cache *c =
		row_cache_new(directory, UNBOUNDED, MAKER);
	own(row_pack_fini) struct row_pack p = { 0 }, found = { 0 };

	pack_self(&p);
	row_cache_keep(c, "01ab", LAYOUT, &p);
	assert_false(row_cache_find(c, "01ab", LAYOUT + 1, &found));
}

static void what_other_code_made_is_not_taken(unused void **state)
{
	own(row_cache_freep) struct row_cache *ours =
		row_cache_new(directory, UNBOUNDED, MAKER);
	own(row_cache_freep) struct row_cache *newer =
		row_cache_new(directory, UNBOUNDED, MAKER + 1);
	own(row_pack_fini) struct row_pack p = { 0 }, found = { 0 };
	struct row_pack none = { 0 };

	pack_self(&p);
	row_cache_keep(ours, "01ab", LAYOUT, &p);
	assert_false(row_cache_find(newer, "01ab", LAYOUT, &found));
	row_cache_keep(newer, "01ab", LAYOUT, &none);
	assert_true(row_cache_find(ours, "01ab", LAYOUT, &found)); /* both go on */
	expect_equal(&found, &p);
}

static void every_flipped_byte_is_noticed(unused void **state)
{
	own(buf_fini) struct buf b = { 0 };
	own(row_pack_fini) struct row_pack p = { 0 };

	pack_self(&p);
	row_pack_file_format(&p, LAYOUT, &b);
	for (size_t i = 0; i < b.size; i += i < 200 ? 1 : 97) {
		own(row_pack_fini) struct row_pack found = { 0 };
		struct err e = { 0 };

		b.data[i] ^= 0x40;
		assert_true(row_pack_file_parse(b.data, b.size, LAYOUT, &found, &e) < 0);
		assert_true(e.text[0]);
		b.data[i] ^= 0x40;
	}
	for (size_t cut = 0; cut < b.size; cut += cut < 200 ? 1 : 97) {
		own(row_pack_fini) struct row_pack found = { 0 };

		assert_true(row_pack_file_parse(b.data, cut, LAYOUT, &found, NULL) < 0);
	}
}

static void a_damaged_file_is_replaced(unused void **state)
{
	own(row_cache_freep) struct row_cache *c =
		row_cache_new(directory, UNBOUNDED, MAKER);
	own(row_pack_fini) struct row_pack p = { 0 }, found = { 0 };
	own(freep) char *path = path_of("01ab");

	pack_self(&p);
	row_cache_keep(c, "01ab", LAYOUT, &p);
	assert_int_equal(truncate(path, 1000), 0);
	assert_false(row_cache_find(c, "01ab", LAYOUT, &found));
	row_cache_keep(c, "01ab", LAYOUT, &p);
	assert_true(row_cache_find(c, "01ab", LAYOUT, &found));
}

static void set_age(const char *key, time_t seconds)
{
	own(freep) char *path = path_of(key);
	struct timespec t[2] = { { .tv_sec = time(NULL) - seconds },
				 { .tv_sec = time(NULL) - seconds } };

	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static bool is_there(const char *key)
{
	own(freep) char *path = path_of(key);

	return access(path, F_OK) == 0;
}

static void the_longest_unused_goes_when_there_is_too_much(unused void **state)
{
	own(buf_fini) struct buf b = { 0 };
	own(row_pack_fini) struct row_pack p = { 0 };

	pack_self(&p);
	row_pack_file_format(&p, LAYOUT, &b);

	own(row_cache_freep) struct row_cache *c =
		row_cache_new(directory, 5 * b.size, MAKER);
	static const char *const keys[] = { "01", "02", "03", "04", "05" };

	for (size_t i = 0; i < 5; i++) {
		row_cache_keep(c, keys[i], LAYOUT, &p);
		set_age(keys[i], (time_t)(90000 - i));
	}

	own(row_pack_fini) struct row_pack found = { 0 };

	assert_true(row_cache_find(c, "01", LAYOUT, &found)); /* used again */
	row_cache_keep(c, "06", LAYOUT, &p);
	assert_true(is_there("01") && is_there("06") && is_there("05"));
	assert_false(is_there("02") || is_there("03"));
}

static void where_nothing_can_be_kept_nothing_is_found(unused void **state)
{
	own(row_cache_freep) struct row_cache *c =
		row_cache_new("/proc/none", UNBOUNDED, MAKER);
	struct row_pack p = { 0 }, found = { 0 };

	row_cache_keep(c, "01ab", LAYOUT, &p);
	assert_false(row_cache_find(c, "01ab", LAYOUT, &found));
}

#define in_directory(test)                                                               \
	cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_directory(what_was_kept_is_found),
		in_directory(a_file_without_rows_is_remembered_as_such),
		in_directory(a_file_that_has_its_code_elsewhere_is_another),
		in_directory(what_other_code_made_is_not_taken),
		in_directory(every_flipped_byte_is_noticed),
		in_directory(a_damaged_file_is_replaced),
		in_directory(the_longest_unused_goes_when_there_is_too_much),
		cmocka_unit_test(where_nothing_can_be_kept_nothing_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
