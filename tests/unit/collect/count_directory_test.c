/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_directory.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cmocka.h>

static void touch(const struct count_directory *d, const char *name)
{
	own(closep) int fd = openat(d->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && write(fd, "x", 1) == 1);
}

static void files_are_found_by_process_and_image(void **state)
{
	static const char *const names[] = { "of.20.0",	  "of.3.10",   "of.3.2",
					     "of.3",	  "of.x.1",    "of.5.1x",
					     "of.07.1",	  "else",      "of.3.2.11",
					     "of.3.2.0",  "of.3.2.2",  "of.3.2.1.1",
					     "of.3.2.1x", "of.3.2.01", "of.20.0." };
	static const struct count_directory_file want[] = {
		{ 3, 2, 0 }, { 3, 2, 2 }, { 3, 2, 11 }, { 3, 10, 0 }, { 20, 0, 0 }
	};
	struct count_directory d;
	struct count_directory_list list = { 0 };

	(void)state;
	assert_int_equal(count_directory_make(&d, NULL), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		touch(&d, names[i]);
	count_directory_list(&d, &list);
	assert_int_equal(list.at.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(list.at.at[i].pid, want[i].pid);
		assert_int_equal(list.at.at[i].n, want[i].n);
		assert_int_equal(list.at.at[i].part, want[i].part);
	}
	vec_fini(&list.at);
	count_directory_remove(&d, false);
}

/* Whoever has it mapped or open keeps what is in it. */
static void an_emptied_file_keeps_its_name(void **state)
{
	const struct count_directory_file f = { 7, 1 };
	struct count_directory d;
	struct stat st;

	(void)state;
	assert_int_equal(count_directory_make(&d, NULL), 0);
	touch(&d, "of.7.1");

	own(closep) int before = count_directory_open(&d, f);

	count_directory_empty(&d, f);

	own(closep) int after = count_directory_open(&d, f);

	assert_true(fstat(before, &st) == 0 && st.st_size == 1);
	assert_true(fstat(after, &st) == 0 && st.st_size == 0);
	count_directory_drop(&d, f);
	assert_int_equal(count_directory_open(&d, f), -1);
	count_directory_remove(&d, false);
}

static void a_file_is_written_as_long_as_it_is_mapped(void **state)
{
	const struct count_directory_file f = { 7, 1 };
	struct count_directory d;

	(void)state;
	assert_int_equal(count_directory_make(&d, NULL), 0);
	assert_false(count_directory_is_written(&d, f));
	touch(&d, "of.7.1");
	assert_false(count_directory_is_written(&d, f));

	int fd = openat(d.fd, "of.7.1", O_RDWR | O_CLOEXEC);
	void *at = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	close(fd);
	assert_true(count_directory_is_written(&d, f));
	munmap(at, 1);
	assert_false(count_directory_is_written(&d, f));
	count_directory_remove(&d, false);
}

static void it_goes_unless_somebody_needs_the_engine(void **state)
{
	char path[COUNT_DIRECTORY_MAX], engine[COUNT_DIRECTORY_MAX + 16];
	struct count_directory d;

	(void)state;
	for (int is_used = 0; is_used < 2; is_used++) {
		assert_int_equal(count_directory_make(&d, NULL), 0);
		snprintf(path, sizeof(path), "%s", d.path);
		snprintf(engine, sizeof(engine), "%s/" COUNT_DIRECTORY_ENGINE, path);
		assert_int_equal(access(engine, X_OK), 0);
		count_directory_remove(&d, is_used);
		assert_int_equal(access(engine, X_OK), is_used ? 0 : -1);
	}
	assert_int_equal(unlink(engine), 0);
	assert_int_equal(rmdir(path), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_found_by_process_and_image),
		cmocka_unit_test(an_emptied_file_keeps_its_name),
		cmocka_unit_test(a_file_is_written_as_long_as_it_is_mapped),
		cmocka_unit_test(it_goes_unless_somebody_needs_the_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
