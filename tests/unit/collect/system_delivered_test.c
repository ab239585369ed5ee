/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/own.h"
#include "collect/system_delivered.h"

#define SLOT 7

static const struct state_record_sum one = { .ns = 10, .wait_ns = 20, .count = 1 };
static const struct state_record_sum two = { .ns = 30, .wait_ns = 20, .count = 2 };

/* fd: of a map, or -1. */
static struct system_delivered *open_at(int fd, uint64_t version)
{
	struct system_delivered *d = NULL;

	assert_int_equal(system_delivered_new(fd, version, &d, NULL), 0);
	return d;
}

static void assert_is(const struct system_delivered *d,
		      const struct state_record_sum *want)
{
	struct state_record_sum got;

	system_delivered_get(d, SLOT, &got);
	assert_memory_equal(&got, want, sizeof(got));
}

static void what_is_put_is_true_when_it_is_committed(unused void **state)
{
	own(system_delivered_freep) struct system_delivered *d = open_at(-1, 0);
	const struct state_record_sum none = { 0 };

	assert_is(d, &none);
	system_delivered_put(d, SLOT, &one);
	assert_is(d, &none);
	assert_int_equal(system_delivered_next(d), 1);
	system_delivered_commit(d);
	assert_is(d, &one);
	system_delivered_put(d, SLOT, &two);
	assert_is(d, &one);
	system_delivered_commit(d);
	assert_is(d, &two);
}

static void it_stays_through_versions_in_which_nothing_is_put(unused void **state)
{
	own(system_delivered_freep) struct system_delivered *d = open_at(-1, 0);

	system_delivered_put(d, SLOT, &one);
	for (unsigned i = 0; i < 5; i++)
		system_delivered_commit(d);
	assert_is(d, &one);
	system_delivered_put(d, SLOT, &two);
	system_delivered_put(d, SLOT, &two);
	assert_is(d, &one);
	system_delivered_commit(d);
	assert_is(d, &two);
	system_delivered_clear(d, SLOT);
	assert_is(d, &(struct state_record_sum){ 0 });
}

static void what_is_new_is_what_a_sum_is_beyond_it(unused void **state)
{
	own(system_delivered_freep) struct system_delivered *d = open_at(-1, 0);
	struct state_record_sum rest, wrapped = { .count = 1 };

	system_delivered_put(d, SLOT, &one);
	system_delivered_commit(d);
	system_delivered_rest(d, SLOT, &two, &rest);
	assert_int_equal(rest.ns, 20);
	assert_int_equal(rest.wait_ns, 0);
	assert_int_equal(rest.count, 1);
	system_delivered_put(d, SLOT, &(struct state_record_sum){ .count = UINT32_MAX });
	system_delivered_commit(d);
	system_delivered_rest(d, SLOT, &wrapped, &rest);
	assert_int_equal(rest.count, 2);
}

static void the_next_finds_what_was_committed_whenever_one_was_killed(unused void **state)
{
	own(closep) int fd = system_delivered_make(NULL);

	if (fd < 0) {
		assert_true(errno == EPERM || errno == EACCES || errno == ENOSYS);
		print_message("# BPF maps are not permitted here\n");
		skip();
	}
	for (uint64_t version = 0; version < 3; version++) {
		own(system_delivered_freep) struct system_delivered *d =
			open_at(fd, version);
		const struct state_record_sum sum = { .ns = version + 1 };

		system_delivered_put(d, SLOT, &two); /* and is killed */
		system_delivered_free(d);
		d = open_at(fd, version);
		assert_is(d, &(struct state_record_sum){ .ns = version });
		system_delivered_put(d, SLOT, &sum);
		system_delivered_commit(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_is_true_when_it_is_committed),
		cmocka_unit_test(it_stays_through_versions_in_which_nothing_is_put),
		cmocka_unit_test(what_is_new_is_what_a_sum_is_beyond_it),
		cmocka_unit_test(
			the_next_finds_what_was_committed_whenever_one_was_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
