/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/own.h"
#include "collect/system_told.h"

#define N_BYTES 20000

static uint8_t bytes[N_BYTES];
static const uint64_t nothing[2] = { 0 };

static int set_up(void **state)
{
	static int fd;

	for (size_t i = 0; i < N_BYTES; i++)
		bytes[i] = (uint8_t)(i * 31 >> 3);
	fd = system_told_make(NULL);
	*state = &fd;
	return 0;
}

static int tear_down(void **state)
{
	closep(*state);
	return 0;
}

static int map_of(void **state)
{
	int fd = *(int *)*state;

	if (fd < 0) {
		print_message("# BPF maps are not permitted here\n");
		skip();
	}
	return fd;
}

static void assert_next_has(int fd, unsigned table, uint64_t n, const uint8_t *want)
{
	const uint64_t sizes[2] = { table ? 0 : n, table ? n : 0 };
	own(system_told_freep) struct system_told *t = system_told_new(fd, sizes);
	own(buf_fini) struct buf got = { 0 };

	system_told_read(t, table, &got);
	assert_int_equal(got.size, n);
	assert_memory_equal(got.data, want, n);
}

static void a_table_that_grows_is_there_for_the_next(void **state)
{
	const size_t sizes[] = { 1, 100, 3999, 4000, 4001, 12000, N_BYTES };
	int fd = map_of(state);
	own(system_told_freep) struct system_told *t = system_told_new(fd, nothing);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(system_told_put(t, 1, bytes, sizes[i]), sizes[i]);
		system_told_trim(t);
		assert_next_has(fd, 1, sizes[i], bytes);
	}
	assert_next_has(fd, 1, 4000, bytes); /* of a ledger that is older */
}

static void what_was_there_goes_only_when_the_ledger_says_so(void **state)
{
	int fd = map_of(state);
	own(system_told_freep) struct system_told *t = system_told_new(fd, nothing);
	own(buf_fini) struct buf got = { 0 };

	system_told_put(t, 0, bytes, N_BYTES);
	assert_int_equal(system_told_put(t, 0, bytes, 0), 0);
	assert_next_has(fd, 0, N_BYTES, bytes);
	system_told_trim(t);
	system_told_read(t, 0, &got);
	assert_int_equal(got.size, 0);
	assert_int_equal(system_told_put(t, 0, bytes + 8, 5000), 5000);
	assert_next_has(fd, 0, 5000, bytes + 8);
}

static void one_goes_on_where_another_was_killed(void **state)
{
	const uint64_t sizes[2] = { 5000, 0 };
	int fd = map_of(state);
	own(system_told_freep) struct system_told *t = system_told_new(fd, nothing);

	system_told_put(t, 0, bytes, 9000); /* of which 5000 are in the ledger */
	system_told_free(t);
	t = system_told_new(fd, sizes);
	assert_int_equal(system_told_put(t, 0, bytes, 11000), 11000);
	assert_next_has(fd, 0, 11000, bytes);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_table_that_grows_is_there_for_the_next),
		TEST(what_was_there_goes_only_when_the_ledger_says_so),
		TEST(one_goes_on_where_another_was_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
