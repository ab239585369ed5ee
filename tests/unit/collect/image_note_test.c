/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "collect/image_note.h"

static struct image_file example(void)
{
	static char name[] = "/lib/libz.so.1", host_path[] = "/var/lib/box/lib/libz.so.1";

	return (struct image_file){
		.name = name,
		.host_path = host_path,
		.fd = -1,
		.is_found = true,
		.kind = IMAGE_ELF,
		.flags = IMAGE_DELETED,
		.build_id_size = 3,
		.build_id = { 7, 0, 9 },
		.executable = { .is_64bit = true,
				.layout = 0xffffffff,
				.entry_offset = 4096,
				.size_bytes = 1234567,
				.inode = 42,
				.mtime_s = -5 },
	};
}

static void what_was_noted_comes_back(unused void **state)
{
	own(buf_fini) struct buf note = { 0 };
	const struct image_file f = example();
	struct image_file again;

	assert_true(image_note_encode(&f, &note));
	assert_int_equal(image_note_decode(note.data, note.size, &again, NULL), 0);
	assert_string_equal(again.name, f.name);
	assert_null(again.path);
	assert_string_equal(again.host_path, f.host_path);
	assert_true(again.is_found && again.fd == -1 && again.flags == IMAGE_DELETED);
	assert_int_equal(again.build_id_size, 3);
	assert_memory_equal(again.build_id, f.build_id, 3);
	assert_true(again.executable.is_64bit && again.executable.mtime_s == -5);
	assert_int_equal(again.executable.layout, 0xffffffff);
	assert_int_equal(again.executable.entry_offset, 4096);
	image_file_fini(&again);
}

static void a_note_that_is_cut_or_goes_on_is_refused(unused void **state)
{
	own(buf_fini) struct buf note = { 0 };
	const struct image_file f = example();
	struct image_file again;
	struct err e;

	assert_true(image_note_encode(&f, &note));
	for (size_t n = 0; n < note.size; n++)
		assert_int_equal(image_note_decode(note.data, n, &again, &e), ERR_FORMAT);
	buf_u8(&note, 0);
	assert_int_equal(image_note_decode(note.data, note.size, &again, &e), ERR_FORMAT);
}

static void names_that_are_too_long_are_not_noted(unused void **state)
{
	own(buf_fini) struct buf note = { 0 };
	own(freep) char *name = xcalloc(1, IMAGE_NOTE_MAX + 1);
	struct image_file f = example();

	memset(name, 'a', IMAGE_NOTE_MAX);
	f.name = name;
	assert_false(image_note_encode(&f, &note));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_noted_comes_back),
		cmocka_unit_test(a_note_that_is_cut_or_goes_on_is_refused),
		cmocka_unit_test(names_that_are_too_long_are_not_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
