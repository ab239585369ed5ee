/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_files.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define CHILD 7 /* some other process */

/* An engine that rests is known by this in the process's memory: here our own. */
static struct count_control control = { .magic = COUNT_CONTROL_MAGIC, .owner = 5 };

static struct count_resting resting;
static const struct anchor_processes nobody;
static struct anchor_process own_process;
static struct anchor_files files;

static struct count_directory_file own_file(uint32_t number)
{
	return (struct count_directory_file){ .pid = (uint32_t)getpid(), .n = number };
}

static void put(uint32_t pid, uint32_t number)
{
	char name[64];

	snprintf(name, sizeof(name), "of.%u.%u", pid, number);

	own(closep) int fd = openat(files.directory.fd, name, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0 && write(fd, "x", 1) == 1);
}

enum is { GONE, EMPTY, THERE };

static enum is what_is(struct count_directory_file f)
{
	own(closep) int fd = count_directory_open(&files.directory, f);
	struct stat st;

	if (fd < 0)
		return GONE;
	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size ? THERE : EMPTY;
}

static int set_up(void **state)
{
	(void)state;
	own_process.pid = getpid();
	files.resting = &resting;
	files.processes = &nobody;
	control.owner = 5;
	*vec_push(&resting.at) = (struct count_attached){ .pid = getpid(),
							  .control = (uint64_t)&control,
							  .told = control };
	return anchor_files_prepare(&files, getpid(), NULL);
}

static int tear_down(void **state)
{
	(void)state;
	vec_fini(&resting.at);
	count_directory_remove(&files.directory, false);
	return 0;
}

/* What is executed in the next window has the first number that is free. */
static void numbers_below_who_rests_stay_taken(void **state)
{
	(void)state;
	put((uint32_t)getpid(), 0);
	put((uint32_t)getpid(), 1);
	anchor_files_take(&files, &own_process, 0, 0);
	assert_int_equal(what_is(own_file(0)), EMPTY);
	assert_int_equal(what_is(own_file(1)), THERE);
	assert_int_equal(anchor_files_prepare(&files, getpid(), NULL), 0);
	assert_int_equal(what_is(own_file(1)), THERE);
}

static void who_rests_no_more_has_no_files(void **state)
{
	(void)state;
	put((uint32_t)getpid(), 0);
	put((uint32_t)getpid(), 1);
	put(CHILD, 0);
	control.owner++;
	assert_int_equal(anchor_files_prepare(&files, getpid(), NULL), 0);
	assert_int_equal(what_is(own_file(0)), GONE);
	assert_int_equal(what_is(own_file(1)), GONE);
	assert_int_equal(what_is((struct count_directory_file){ .pid = CHILD }), THERE);
}

static void what_is_told_is_removed(void **state)
{
	(void)state;
	put((uint32_t)getpid(), 3);
	control.owner++;
	anchor_files_take(&files, &own_process, 0, 0);
	assert_int_equal(what_is(own_file(3)), GONE);
}

static void children_keep_theirs_while_they_are_counted(void **state)
{
	const struct count_directory_file f = { .pid = CHILD };

	(void)state;
	put(CHILD, 0);
	anchor_files_take(&files, &own_process, 0, CHILD);
	assert_int_equal(what_is(f), THERE);
	anchor_files_take(&files, &own_process, 0, 0);
	assert_int_equal(what_is(f), GONE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers_below_who_rests_stay_taken,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_rests_no_more_has_no_files, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_told_is_removed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			children_keep_theirs_while_they_are_counted, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
