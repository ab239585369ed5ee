/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/die_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"
#include "elf_builder.h"

/* 1: the unit; 2: a function with name, file and line; 3: with file, line and
 * specification. */
static const char abbrevs[] = "\x01\x11\x01\x00\x00"
			      "\x02\x2e\x00\x03\x08\x3a\x0b\x3b\x0b\x00\x00"
			      "\x03\x2e\x00\x3a\x0b\x3b\x0b\x47\x13\x00\x00";

#define DECLARATION 13
#define DEFINITION  18

/* f is declared in file 1, line 3 and defined in file 0, line 4. */
static const char info_5[] = "\x16\x00\x00\x00\x05\x00\x01\x08\x00\x00\x00\x00"
			     "\x01"
			     "\x02"
			     "f\x00\x01\x03"
			     "\x03\x00\x04\x0d\x00\x00\x00"
			     "\x00";

static void add(struct elf_builder *b, const char *name, const void *data, size_t size)
{
	elf_builder_add(b, &(struct elf_builder_section){ .name = name,
							  .type = SHT_PROGBITS,
							  .data = data,
							  .size = size });
}

static struct debug_file *open_info(const char *info, size_t size, struct object **ret)
{
	own(elf_builder_fini) struct elf_builder b = { 0 };
	own(buf_fini) struct buf bytes = { 0 };

	add(&b, ".debug_abbrev", abbrevs, sizeof(abbrevs));
	add(&b, ".debug_info", info, size);
	elf_builder_write(&b, &bytes);
	assert_int_equal(object_over(&bytes, "test", ret, NULL), 0);
	return debug_file_open(*ret, true, NULL);
}

static void file_0_of_a_definition_is_not_that_of_its_declaration(void **state unused)
{
	struct object *o;
	struct debug_file *f = open_info(info_5, sizeof(info_5) - 1, &o);
	struct die_name name;

	assert_int_equal(f->units.n, 1);
	die_name_find(&f->units.at[0], DECLARATION, &name);
	assert_true(name.has_decl_file && name.decl_file == 1 && name.decl_line == 3);
	die_name_find(&f->units.at[0], DEFINITION, &name);
	assert_string_equal(name.name, "f");
	assert_true(name.has_decl_file && name.decl_file == 0 && name.decl_line == 4);
	debug_file_free(f);
}

/* Up to DWARF 4, whose headers have no type, 0 says that the file is not known. */
static void before_version_5_file_0_is_none(void **state unused)
{
	static const char info_4[] = "\x15\x00\x00\x00\x04\x00\x00\x00\x00\x00\x08"
				     "\x01"
				     "\x02"
				     "f\x00\x01\x03"
				     "\x03\x00\x04\x0c\x00\x00\x00"
				     "\x00";
	struct object *o;
	struct debug_file *f = open_info(info_4, sizeof(info_4) - 1, &o);
	struct die_name name;

	die_name_find(&f->units.at[0], DEFINITION - 1, &name);
	assert_string_equal(name.name, "f");
	assert_true(name.has_decl_file && name.decl_file == 1 && name.decl_line == 4);
	debug_file_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_0_of_a_definition_is_not_that_of_its_declaration),
		cmocka_unit_test(before_version_5_file_0_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
