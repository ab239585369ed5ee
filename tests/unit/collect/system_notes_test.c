/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "collect/system_notes.h"

/* What was found, by small numbers. */
struct found {
	size_t n, lengths[8];
};

static void on_note(void *ctx, uint32_t image, struct image_file *f)
{
	struct found *found = ctx;

	found->n++;
	assert_true(image < 8);
	found->lengths[image] = strlen(f->name);
	image_file_fini(f);
}

static struct system_notes *new_notes(int fd)
{
	struct system_notes *n = NULL;

	if (system_notes_new(fd, &n, NULL) == 0)
		return n;
	assert_true(errno == EPERM || errno == EACCES || errno == ENOSYS);
	print_message("# BPF maps are not permitted here\n");
	skip();
	return NULL;
}

static void put(struct system_notes *n, uint32_t image, size_t length)
{
	char name[4096] = { 0 };
	struct image_file f = { .name = name, .fd = -1 };

	memset(name, 'a', length);
	system_notes_put(n, image, &f);
}

static struct found read_all(const struct system_notes *n)
{
	int fd = fcntl(system_notes_fd(n), F_DUPFD_CLOEXEC, 0);
	own(system_notes_freep) struct system_notes *next = new_notes(fd);
	struct found found = { 0 };

	system_notes_each(next, on_note, &found);
	return found;
}

static void notes_of_any_length_are_there_for_the_next(unused void **state)
{
	own(system_notes_freep) struct system_notes *n = new_notes(-1);
	struct found found;

	put(n, 2, 10);
	put(n, 3, 4000);
	put(n, 3, 3000);
	put(n, 4, 500);
	found = read_all(n);
	assert_int_equal(found.n, 3);
	assert_int_equal(found.lengths[2], 10);
	assert_int_equal(found.lengths[3], 3000);
	assert_int_equal(found.lengths[4], 500);
}

static void what_was_removed_is_gone_with_all_its_parts(unused void **state)
{
	own(system_notes_freep) struct system_notes *n = new_notes(-1);
	uint32_t key[2];

	put(n, 3, 4000);
	system_notes_remove(n, 3);
	assert_int_equal(read_all(n).n, 0);
	assert_int_not_equal(bpf_map_get_next_key(system_notes_fd(n), NULL, key), 0);
}

static void a_note_of_which_parts_are_missing_is_none(unused void **state)
{
	own(system_notes_freep) struct system_notes *n = new_notes(-1);
	const uint32_t second[] = { 3, 1 };

	put(n, 3, 4000);
	put(n, 4, 40);
	assert_int_equal(bpf_map_delete_elem(system_notes_fd(n), second), 0);
	assert_int_equal(read_all(n).n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_of_any_length_are_there_for_the_next),
		cmocka_unit_test(what_was_removed_is_gone_with_all_its_parts),
		cmocka_unit_test(a_note_of_which_parts_are_missing_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
