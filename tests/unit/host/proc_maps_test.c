/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc_maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool first(const char *text, struct proc_map *m)
{
	return proc_maps_next(&text, text + strlen(text), m);
}

static void a_line_tells_range_rights_and_file(void **state)
{
	struct proc_map m;

	(void)state;
	assert_true(first("7f0012340000-7f0012350000 r-xp 00001000 08:1a 4711        "
			  "  /usr/lib/a b.so\n",
			  &m));
	assert_int_equal(m.start, 0x7f0012340000);
	assert_int_equal(m.end, 0x7f0012350000);
	assert_int_equal(m.file_offset, 0x1000);
	assert_int_equal(m.dev_major, 8);
	assert_int_equal(m.dev_minor, 0x1a);
	assert_int_equal(m.inode, 4711);
	assert_true(m.is_exec);
	assert_false(m.is_writable);
	assert_string_equal(m.path, "/usr/lib/a b.so");
}

static void deleted_files_and_escaped_names_are_understood(void **state)
{
	struct proc_map m;

	(void)state;
	assert_true(first("1000-2000 rwxp 0 00:00 1 /tmp/a\\012b (deleted)", &m));
	assert_string_equal(m.path, "/tmp/a\nb");
	assert_true(m.is_deleted);
	assert_true(first("1000-2000 rw-p 0 00:00 0 ", &m));
	assert_string_equal(m.path, "");
	assert_false(m.is_exec);
}

static void lines_that_make_no_sense_are_skipped(void **state)
{
	const char *text = "garbage\n2000-1000 r-xp 0 0:0 0\n1000-2000 r-xp 0 0:0 0 x";
	const char *end = text + strlen(text);
	struct proc_map m;

	(void)state;
	assert_true(proc_maps_next(&text, end, &m));
	assert_string_equal(m.path, "x");
	assert_false(proc_maps_next(&text, end, &m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_tells_range_rights_and_file),
		cmocka_unit_test(deleted_files_and_escaped_names_are_understood),
		cmocka_unit_test(lines_that_make_no_sense_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
