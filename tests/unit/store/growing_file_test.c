/* SPDX-License-Identifier: Apache-2.0 */
#include "store/growing_file.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch_file.h"

static const char *const path = scratch_file_path;

/* Files may grow to that from now on. */
static void limit_to(rlim_t max)
{
	struct rlimit r;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

static void expect_content(const char *text)
{
	char found[64] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_int_equal(fread(found, 1, sizeof(found) - 1, f), strlen(text));
	fclose(f);
	assert_string_equal(found, text);
}

static void what_does_not_fit_is_refused_as_a_whole(unused void **state)
{
	own(growing_file_fini) struct growing_file f = { .fd = -1 };
	struct err e = { 0 };
	int rc;

	growing_file_init(&f, path, open(path, O_RDWR | O_CREAT, 0600), 0);
	assert_int_equal(growing_file_append(&f, "first", 5, &e), 0);
	limit_to(8);
	rc = growing_file_append(&f, "second", 6, &e);
	limit_to(RLIM_INFINITY);
	assert_int_equal(rc, ERR_OS);
	assert_int_equal(f.offset, 5);
	expect_content("first");
	assert_int_equal(growing_file_append(&f, "third", 5, &e), 0);
	expect_content("firstthird");
	assert_int_equal(growing_file_close(&f, &e), 0);
}

static void what_does_not_fit_into_a_patient_one_waits_for_room(unused void **state)
{
	own(growing_file_fini) struct growing_file f = { .fd = -1 };
	struct err e = { 0 };
	int rc[3];

	growing_file_init_patient(&f, path);
	assert_int_equal(growing_file_append(&f, "first", 5, &e), 0);
	assert_int_equal(growing_file_settle(&f, &e), 0);
	limit_to(8);
	rc[0] = growing_file_append(&f, "second", 6, &e);
	rc[1] = growing_file_append(&f, "x", 1, &e); /* would fit, but is behind it */
	rc[2] = growing_file_settle(&f, &e);
	limit_to(RLIM_INFINITY);
	assert_int_equal(rc[0], 0);
	assert_int_equal(rc[1], 0);
	assert_int_equal(rc[2], ERR_OS);
	assert_non_null(strstr(e.text, "cannot write"));
	assert_int_equal(growing_file_waiting(&f), 7);
	assert_int_equal(f.offset, 12);
	expect_content("first");
	assert_int_equal(growing_file_settle(&f, &e), 0);
	assert_int_equal(growing_file_waiting(&f), 0);
	assert_int_equal(growing_file_append(&f, "!", 1, &e), 0);
	expect_content("firstsecondx!");
}

static void a_patient_one_waits_for_its_name(unused void **state)
{
	own(growing_file_fini) struct growing_file f = { .fd = -1 };
	struct err e = { 0 };

	assert_int_equal(close(open(path, O_RDWR | O_CREAT, 0600)), 0);
	growing_file_init_patient(&f, path);
	assert_int_equal(growing_file_append(&f, "all", 3, &e), 0);
	assert_int_equal(growing_file_settle(&f, &e), ERR_OS);
	expect_content("");
	unlink(path);
	assert_int_equal(growing_file_settle(&f, &e), 0);
	expect_content("all");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_file_make, scratch_file_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_does_not_fit_is_refused_as_a_whole),
		TEST(what_does_not_fit_into_a_patient_one_waits_for_room),
		TEST(a_patient_one_waits_for_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
