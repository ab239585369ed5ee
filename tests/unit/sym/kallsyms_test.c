/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/own.h"
#include "sym/kallsyms.h"

static struct kallsyms *over(const char *text)
{
	struct buf b = { 0 };

	buf_puts(&b, text);
	return kallsyms_over(&b);
}

static void functions_reach_to_the_next_one(void **state)
{
	own(kallsyms_freep) struct kallsyms *k =
		over("ffffffff81000000 T _stext\n"
		     "ffffffff81000000 T startup\n"
		     "ffffffff81000100 t helper\n"
		     "ffffffff81000100 T public_name\n"
		     "ffffffff81000200 D data\n"
		     "ffffffff81000300 t last\n"
		     "ffffffff81000400 T _etext\n"
		     "ffffffffc0001000 t ext4_sync\t[ext4]\n"
		     "ffffffffc0002000 t ext4_read\t[ext4]\n");
	const struct symtab *kernel = kallsyms_table(k, NULL);
	const struct symtab *ext4 = kallsyms_table(k, "ext4");

	(void)state;
	assert_int_equal(kallsyms_stext(k), 0xffffffff81000000);
	assert_int_equal(kallsyms_end(k), 0xffffffff81010400);
	assert_string_equal(symtab_find(kernel, 0xffffffff81000000)->name, "startup");
	assert_string_equal(symtab_find(kernel, 0xffffffff810000ff)->name, "startup");
	assert_string_equal(symtab_find(kernel, 0xffffffff81000150)->name, "public_name");
	assert_string_equal(symtab_find(kernel, 0xffffffff810003ff)->name, "last");
	assert_null(symtab_find(kernel, 0xffffffff81000400));
	assert_null(symtab_find(kernel, 0xffffffff80ffffff));
	assert_string_equal(symtab_find(ext4, 0xffffffffc0001fff)->name, "ext4_sync");
	assert_null(symtab_find(kernel, 0xffffffffc0001fff));
	assert_null(kallsyms_table(k, "xfs"));
	assert_false(kallsyms_is_hidden(k));
}

/* The entry code of the kernel is padded to two megabytes. */
static void a_part_ends_where_its_marker_is(void **state)
{
	own(kallsyms_freep) struct kallsyms *k =
		over("ffffffff81000000 T __entry_text_start\n"
		     "ffffffff81000000 t first\n"
		     "ffffffff81000100 T __entry_text_end\n"
		     "ffffffff81000200 T __other_text_end\n"
		     "ffffffff81000200 t next\n");
	const struct symtab *kernel = kallsyms_table(k, NULL);

	(void)state;
	assert_string_equal(symtab_find(kernel, 0xffffffff81000000)->name, "first");
	assert_string_equal(symtab_find(kernel, 0xffffffff810000ff)->name, "first");
	assert_true(kallsyms_is_end(symtab_find(kernel, 0xffffffff81000100)->name));
	assert_string_equal(symtab_find(kernel, 0xffffffff81000200)->name, "next");
}

static void hidden_addresses_name_nothing(void **state)
{
	own(kallsyms_freep) struct kallsyms *k = over("0000000000000000 T _stext\n"
						      "0000000000000000 t helper\n");

	(void)state;
	assert_true(kallsyms_is_hidden(k));
	assert_int_equal(symtab_count(kallsyms_table(k, NULL)), 0);
}

static void lines_that_make_no_sense_are_passed_over(void **state)
{
	own(kallsyms_freep) struct kallsyms *k =
		over("\n\nxyz\n12\n12 \n12 T\n12 T \nfffffffff123456789 T too_long\n"
		     "1000 T good\nzz T bad\n2000 T cut [mod");

	(void)state;
	assert_string_equal(symtab_find(kallsyms_table(k, NULL), 0x1010)->name, "good");
	assert_int_equal(symtab_count(kallsyms_table(k, NULL)), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_reach_to_the_next_one),
		cmocka_unit_test(a_part_ends_where_its_marker_is),
		cmocka_unit_test(hidden_addresses_name_nothing),
		cmocka_unit_test(lines_that_make_no_sense_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
