/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/damaged_files.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static char directory[32];

static void put(const char *name, size_t bytes)
{
	own(freep) char *path = xasprintf("%s/%s", directory, name);
	FILE *f = fopen(path, "w");

	for (size_t i = 0; i < bytes; i++)
		fputc('x', f);
	fclose(f);
}

static bool is_there(const char *name)
{
	own(freep) char *path = xasprintf("%s/%s", directory, name);

	return access(path, F_OK) == 0;
}

static int make(unused void **state)
{
	strcpy(directory, "damaged_files-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	put("900-1000.damaged", 100);
	put("2000-3000.damaged", 100);
	put("1000-2000.damaged", 100);
	put("100-200.closed.part", 100); /* nobody's here */
	return 0;
}

static int remove_all(unused void **state)
{
	DIR *d = opendir(directory);

	for (const struct dirent *x; d && (x = readdir(d));)
		unlinkat(dirfd(d), x->d_name, 0);
	closedir(d);
	return rmdir(directory);
}

static void retain(int64_t max_age_s, uint64_t max_bytes, uint64_t other_bytes)
{
	const struct database_retention r = { max_age_s, max_bytes };

	assert_int_equal(damaged_files_retain(directory, &r, other_bytes, 5000, NULL), 0);
	assert_true(is_there("100-200.closed.part"));
}

static void they_stay_where_nothing_is_to_go(unused void **state)
{
	retain(0, 0, 1000000);
	retain(4001, 300, 0);
	assert_int_equal(damaged_files_count(directory), 3);
}

static void those_that_are_too_old_go(unused void **state)
{
	retain(3000, 0, 0);
	assert_int_equal(damaged_files_count(directory), 2);
	assert_false(is_there("900-1000.damaged"));
}

static void the_oldest_go_when_there_is_more_than_there_may_be(unused void **state)
{
	retain(0, 1250, 1000);
	assert_int_equal(damaged_files_count(directory), 2);
	retain(0, 1199, 1000);
	assert_int_equal(damaged_files_count(directory), 1);
	assert_true(is_there("2000-3000.damaged"));
	retain(0, 999, 1000); /* the rest is others' */
	assert_int_equal(damaged_files_count(directory), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make, remove_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(they_stay_where_nothing_is_to_go),
		TEST(those_that_are_too_old_go),
		TEST(the_oldest_go_when_there_is_more_than_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
