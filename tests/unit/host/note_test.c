/* SPDX-License-Identifier: Apache-2.0 */
#include "host/note.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/own.h"

static void add_note(struct buf *b, const char *name, uint32_t type, const void *desc,
		     size_t size)
{
	static const uint8_t zeros[4];
	size_t name_size = strlen(name) + 1;

	buf_u32le(b, (uint32_t)name_size);
	buf_u32le(b, (uint32_t)size);
	buf_u32le(b, type);
	buf_add(b, name, name_size);
	buf_add(b, zeros, -name_size & 3);
	buf_add(b, desc, size);
	buf_add(b, zeros, -size & 3);
}

static void notes_come_one_after_the_other(void **state)
{
	own(buf_fini) struct buf b = { 0 };
	struct reader r;
	struct note n;

	(void)state;
	add_note(&b, "first", 7, "abcde", 5);
	add_note(&b, "", 1, "", 0);
	add_note(&b, "GNU", NT_GNU_BUILD_ID, "id", 2);
	b.size -= 2; /* padding that is not there behind the last */
	r = reader_over(b.data, b.size);
	assert_true(note_next(&r, &n));
	assert_true(note_is(&n, "first", 7));
	assert_false(note_is(&n, "first", 8));
	assert_false(note_is(&n, "firs", 7));
	assert_int_equal(n.desc_size, 5);
	assert_memory_equal(n.desc, "abcde", 5);
	assert_true(note_next(&r, &n));
	assert_int_equal(n.desc_size, 0);
	assert_true(note_next(&r, &n));
	assert_true(note_is(&n, "GNU", NT_GNU_BUILD_ID));
	assert_false(note_next(&r, &n));
	assert_false(r.bad);
}

static void what_is_cut_off_is_damaged(void **state)
{
	own(buf_fini) struct buf b = { 0 };
	struct note n;

	(void)state;
	add_note(&b, "name", 7, "abcd", 4);
	for (size_t size = 12; size < b.size; size++) {
		struct reader r = reader_over(b.data, size);

		assert_false(note_next(&r, &n));
		assert_true(r.bad);
	}
}

static void the_build_id_is_among_others(void **state)
{
	own(buf_fini) struct buf b = { 0 };
	uint8_t id[4];

	(void)state;
	add_note(&b, "GNU", NT_GNU_ABI_TAG, "....", 4);
	add_note(&b, "Xen", NT_GNU_BUILD_ID, "....", 4);
	assert_int_equal(note_find_build_id(b.data, b.size, id, sizeof(id)), 0);
	add_note(&b, "GNU", NT_GNU_BUILD_ID, "abc", 3);
	assert_int_equal(note_find_build_id(b.data, b.size, id, sizeof(id)), 3);
	assert_memory_equal(id, "abc", 3);
	assert_int_equal(note_find_build_id(b.data, b.size, id, 2), 0);
	assert_int_equal(note_find_build_id(NULL, 0, id, sizeof(id)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_come_one_after_the_other),
		cmocka_unit_test(what_is_cut_off_is_damaged),
		cmocka_unit_test(the_build_id_is_among_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
