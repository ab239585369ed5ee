/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "collect/system_ledger.h"
#include "collect/system_notes.h"

#define N_RINGS 3
#define LAYOUT	77

static const struct system_ledger_entry entry = {
	.recording = 5, .bytes = 4096, .samples = 1000, .table = 1, .turn = 2
};
static const struct system_rings_place places[N_RINGS] = {
	{ .start = 8, .done = { 1, 2 } }, { .start = 16 }, { .done = { 0, 9 } }
};

static struct system_ledger *new_ledger(void)
{
	struct system_ledger *l = NULL;

	if (system_ledger_new(N_RINGS, &l, NULL) == 0)
		return l;
	assert_true(errno == EPERM || errno == EACCES || errno == ENOSYS);
	print_message("# BPF maps are not permitted here\n");
	skip();
	return NULL;
}

static int reopen(const struct system_ledger *l, size_t n_rings, uint64_t layout,
		  struct system_ledger **ret)
{
	int fd = fcntl(system_ledger_fd(l), F_DUPFD_CLOEXEC, 0);
	struct err e;

	assert_true(fd >= 0);
	return system_ledger_open(fd, n_rings, layout, ret, &e);
}

static void what_was_written_last_is_read_by_the_next(unused void **state)
{
	own(system_ledger_freep) struct system_ledger *l = new_ledger(), *next = NULL;
	struct system_ledger_entry later = entry, got;
	struct system_rings_place got_places[N_RINGS];

	system_ledger_seal(l, LAYOUT);
	system_ledger_write(l, &entry, places);
	later.bytes = 8192;
	system_ledger_write(l, &later, places);
	assert_int_equal(reopen(l, N_RINGS, LAYOUT, &next), 0);
	system_ledger_read(next, &got, got_places);
	assert_memory_equal(&got, &later, sizeof(got));
	assert_memory_equal(got_places, places, sizeof(places));
}

static void one_that_is_not_sealed_or_of_another_layout_is_refused(unused void **state)
{
	own(system_ledger_freep) struct system_ledger *l = new_ledger(), *next = NULL;

	system_ledger_write(l, &entry, places);
	assert_int_equal(reopen(l, N_RINGS, LAYOUT, &next), ERR_FORMAT);
	system_ledger_seal(l, LAYOUT);
	assert_int_equal(reopen(l, N_RINGS, LAYOUT + 1, &next), ERR_FORMAT);
	assert_int_equal(reopen(l, N_RINGS + 1, LAYOUT, &next), ERR_FORMAT);
	assert_null(next);
}

static void another_map_is_no_ledger(unused void **state)
{
	own(system_ledger_freep) struct system_ledger *l = new_ledger(), *next = NULL;
	own(system_notes_freep) struct system_notes *notes = NULL;
	struct err e;
	int fd;

	assert_int_equal(system_notes_new(-1, &notes, &e), 0);
	fd = fcntl(system_notes_fd(notes), F_DUPFD_CLOEXEC, 0);
	assert_int_equal(system_ledger_open(fd, N_RINGS, LAYOUT, &next, &e), ERR_FORMAT);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(system_ledger_open(fd, N_RINGS, LAYOUT, &next, &e), ERR_OS);
}

static void what_another_layout_wrote_can_be_looked_at(unused void **state)
{
	own(system_ledger_freep) struct system_ledger *l = new_ledger(), *next = NULL;
	struct system_ledger_entry got = { 0 };

	system_ledger_write(l, &entry, places);
	assert_false(system_ledger_peek(dup(system_ledger_fd(l)), N_RINGS, &got));
	system_ledger_seal(l, LAYOUT + 1);
	assert_int_equal(reopen(l, N_RINGS, LAYOUT, &next), ERR_FORMAT);
	assert_true(system_ledger_peek(dup(system_ledger_fd(l)), N_RINGS, &got));
	assert_int_equal(got.samples, entry.samples);
	assert_false(system_ledger_peek(dup(system_ledger_fd(l)), N_RINGS + 1, &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_another_layout_wrote_can_be_looked_at),
		cmocka_unit_test(what_was_written_last_is_read_by_the_next),
		cmocka_unit_test(one_that_is_not_sealed_or_of_another_layout_is_refused),
		cmocka_unit_test(another_map_is_no_ledger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
