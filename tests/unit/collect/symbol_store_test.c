/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/symbol_store.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/image_file.h"

#define PLENTY (UINT64_C(1) << 30)

static char directory[] = "/tmp/symbol_store_test.XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

static struct symbol_store *open_store(uint64_t max_bytes)
{
	struct symbol_store *s;

	assert_int_equal(symbol_store_new(directory, max_bytes, &s, NULL), 0);
	return s;
}

/* This program, under a build-id that is not its own. */
static void keep(struct symbol_store *s, uint8_t id)
{
	struct image_file f = { .fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
				.build_id_size = 3,
				.build_id = { 0xab, 0xcd, id } };

	symbol_store_keep(s, &f);
	close(f.fd);
}

static bool is_there(uint8_t id, struct timespec *age)
{
	char path[100];
	struct stat st;

	snprintf(path, sizeof(path), "%s/.build-id/ab/cd%02x", directory, id);
	if (age && utimensat(AT_FDCWD, path, (struct timespec[]){ *age, *age }, 0) != 0)
		return false;
	return stat(path, &st) == 0;
}

static void a_file_is_kept_once_by_its_build_id(void **state)
{
	own(symbol_store_freep) struct symbol_store *s = open_store(PLENTY);
	uint64_t bytes;

	(void)state;
	keep(s, 1);
	bytes = symbol_store_bytes(s);
	assert_true(is_there(1, NULL));
	assert_true(bytes > 0);
	keep(s, 1);
	assert_int_equal(symbol_store_bytes(s), bytes);

	own(symbol_store_freep) struct symbol_store *again = open_store(PLENTY);

	assert_int_equal(symbol_store_bytes(again), bytes);
	assert_int_equal(symbol_store_n_failures(s), 0);
}

static void the_longest_unused_go_first(void **state)
{
	own(symbol_store_freep) struct symbol_store *s = open_store(PLENTY);
	uint64_t each;

	(void)state;
	keep(s, 1);
	each = symbol_store_bytes(s);
	keep(s, 2);
	keep(s, 3);
	assert_true(is_there(1, &(struct timespec){ .tv_sec = 1000 }));
	assert_true(is_there(2, &(struct timespec){ .tv_sec = 2000 }));
	assert_true(is_there(3, &(struct timespec){ .tv_sec = 3000 }));
	keep(s, 1); /* and so is the newest */

	own(symbol_store_freep) struct symbol_store *small = open_store(each * 7 / 2);

	keep(small, 4);
	assert_true(is_there(1, NULL));
	assert_false(is_there(2, NULL));
	assert_true(is_there(3, NULL));
	assert_true(is_there(4, NULL));
	assert_int_equal(symbol_store_bytes(small), 3 * each);
}

static void what_was_not_written_in_whole_goes(void **state)
{
	char path[100];

	(void)state;
	snprintf(path, sizeof(path), "%s/.build-id/ab/cd77", directory);
	close(creat(path, 0600));

	own(symbol_store_freep) struct symbol_store *s = open_store(PLENTY);

	assert_false(is_there(0x77, NULL));
}

static void what_has_no_symbols_is_passed_over(void **state)
{
	own(symbol_store_freep) struct symbol_store *s = open_store(PLENTY);
	struct image_file text = { .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC),
				   .build_id_size = 3,
				   .build_id = { 0xab, 0xcd, 9 } };
	struct image_file gone = { .fd = -1, .build_id_size = 3 };

	(void)state;
	symbol_store_keep(s, &text);
	symbol_store_keep(s, &gone);
	assert_false(is_there(9, NULL));
	assert_int_equal(symbol_store_n_failures(s), 0);
	close(text.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_kept_once_by_its_build_id),
		cmocka_unit_test(the_longest_unused_go_first),
		cmocka_unit_test(what_was_not_written_in_whole_goes),
		cmocka_unit_test(what_has_no_symbols_is_passed_over),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
