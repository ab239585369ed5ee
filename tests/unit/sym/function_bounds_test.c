/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/function_bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf_builder.h"

#define TEXT 0x1000

static const uint8_t code[0x40];

/* A CIE with absolute pointers and an entry for each of two functions. */
static void put_frames(struct buf *b)
{
	static const uint8_t cie[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0 /* absolute */,
				       0, 0,   0 };
	static const uint64_t starts[] = { TEXT, TEXT + 0x20 };

	buf_u32le(b, 4 + sizeof(cie));
	buf_u32le(b, 0);
	buf_add(b, cie, sizeof(cie));
	for (size_t i = 0; i < 2; i++) {
		buf_u32le(b, 4 + 8 + 8 + 4);
		buf_u32le(b, (uint32_t)b->size);
		buf_u64le(b, starts[i]);
		buf_u64le(b, 0x10);
		buf_u32le(b, 0); /* no augmentation, no instructions */
	}
	buf_u32le(b, 0);
}

/* The name of the function at an address of a stripped program. */
static void check_name(uint16_t type, uint64_t flags_1, uint64_t entry, uint64_t address,
		       const char *want)
{
	own(elf_builder_fini) struct elf_builder b = { .type = type, .entry = entry };
	own(buf_fini) struct buf frames = { 0 }, bytes = { 0 };
	own(symtab_freep) struct symtab *t = symtab_new();
	own(object_freep) struct object *o = NULL;
	own(arena_fini) struct arena names = { 0 };
	const struct symtab_symbol *s;
	Elf64_Dyn dynamic[] = { { DT_FLAGS_1, { flags_1 } }, { DT_NULL, { 0 } } };

	put_frames(&frames);
	elf_builder_add(&b,
			&(struct elf_builder_section){ .name = ".text",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .address = TEXT,
						       .data = code,
						       .size = sizeof(code) });
	elf_builder_add(&b, &(struct elf_builder_section){ .name = ".eh_frame",
							   .type = SHT_PROGBITS,
							   .flags = SHF_ALLOC,
							   .data = frames.data,
							   .size = frames.size });
	elf_builder_add(&b, &(struct elf_builder_section){ .name = ".dynamic",
							   .type = SHT_DYNAMIC,
							   .flags = SHF_ALLOC,
							   .data = dynamic,
							   .size = sizeof(dynamic) });
	elf_builder_write(&b, &bytes);
	assert_int_equal(object_over(&bytes, "test", &o, NULL), 0);
	symtab_add_ranges(t, o);
	symtab_finish(t);
	assert_true(function_bounds_add(t, o, &names) >= 2);
	symtab_finish(t);
	s = symtab_find(t, address);
	assert_non_null(s);
	assert_string_equal(s->name, want);
}

static void functions_without_a_name_are_called_after_where_they_begin(void **state)
{
	(void)state;
	check_name(ET_EXEC, 0, 0, TEXT + 5, "fn@0x1000");
	check_name(ET_EXEC, 0, 0, TEXT + 0x25, "fn@0x1020");
}

static void a_program_begins_in_start(void **state)
{
	(void)state;
	check_name(ET_EXEC, 0, TEXT + 0x20, TEXT + 0x25, "_start");
	check_name(ET_EXEC, 0, TEXT + 0x20, TEXT + 5, "fn@0x1000");
	check_name(ET_DYN, DF_1_PIE, TEXT, TEXT + 5, "_start");
}

static void start_needs_no_unwind_table(void **state)
{
	(void)state;
	check_name(ET_EXEC, 0, TEXT + 0x30, TEXT + 0x38, "_start");
}

/* Linkers used to give libraries one, and that of libc says its version. */
static void the_entry_of_a_library_means_nothing(void **state)
{
	(void)state;
	check_name(ET_DYN, 0, TEXT, TEXT + 5, "fn@0x1000");
	check_name(ET_DYN, DF_1_NOW, TEXT, TEXT + 5, "fn@0x1000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			functions_without_a_name_are_called_after_where_they_begin),
		cmocka_unit_test(a_program_begins_in_start),
		cmocka_unit_test(start_needs_no_unwind_table),
		cmocka_unit_test(the_entry_of_a_library_means_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
