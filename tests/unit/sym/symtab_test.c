/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/symtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elf_builder.h"

static const char *name_at(const struct symtab *t, uint64_t address)
{
	const struct symtab_symbol *s = symtab_find(t, address);

	return s ? s->name : "-";
}

static void sizes_bound_functions_and_open_ones_reach_to_the_next(void **state)
{
	own(symtab_freep) struct symtab *t = symtab_new();

	(void)state;
	symtab_add_range(t, 0x1000, 0x1000);
	symtab_add(t, 0x1000, 0x10, true, "sized");
	symtab_add(t, 0x1020, 0, false, "assembly");
	symtab_add(t, 0x1100, 0x100, true, "outer");
	symtab_add(t, 0x1110, 0, false, "label_inside");
	symtab_add(t, 0x1120, 0x10, false, "nested");
	symtab_add(t, 0x1f00, 0, true, "last");
	symtab_finish(t);
	assert_string_equal(name_at(t, 0xfff), "-");
	assert_string_equal(name_at(t, 0x100f), "sized");
	assert_string_equal(name_at(t, 0x1010), "-");
	assert_string_equal(name_at(t, 0x10ff), "assembly");
	assert_string_equal(name_at(t, 0x1118), "outer");
	assert_string_equal(name_at(t, 0x1125), "nested");
	assert_string_equal(name_at(t, 0x11ff), "outer");
	assert_string_equal(name_at(t, 0x1200), "-");
	assert_string_equal(name_at(t, 0x1fff), "last");
	assert_string_equal(name_at(t, 0x2000), "-");
}

static void the_most_public_name_of_an_address_is_kept(void **state)
{
	own(symtab_freep) struct symtab *t = symtab_new();

	(void)state;
	symtab_add_range(t, 0, 0x1000);
	symtab_add(t, 0x10, 0x10, true, "__libc_malloc");
	symtab_add(t, 0x10, 0x10, true, "malloc");
	symtab_add(t, 0x10, 0x10, false, "a_local");
	symtab_add_weak(t, 0x10, 0x10, "stub@plt");
	symtab_add(t, 0x30, 0, true, "no_size");
	symtab_add(t, 0x30, 8, false, "has_size");
	symtab_finish(t);
	assert_string_equal(name_at(t, 0x18), "malloc");
	assert_string_equal(name_at(t, 0x37), "no_size");
	assert_string_equal(name_at(t, 0x38), "-");
}

#define FUNCTION(bind)	    .st_info = ELF64_ST_INFO(bind, STT_FUNC), .st_shndx = 1
#define AT(address, n_name) .st_value = (address), .st_size = 16, .st_name = (n_name)

/* An object with code from 0x1000 to 0x1fff, symbols and, unless NULL, versions of them.
 */
static struct object *object_of(const char *section, const Elf64_Sym *symbols, size_t n,
				const uint16_t *versions, const char *names,
				size_t names_size)
{
	static const uint8_t code[0x1000];
	own(elf_builder_fini) struct elf_builder b = { 0 };
	own(buf_fini) struct buf bytes = { 0 };
	struct object *o = NULL;
	uint32_t strings =
		elf_builder_add(&b, &(struct elf_builder_section){ .name = ".str",
								   .type = SHT_STRTAB,
								   .data = names,
								   .size = names_size });

	elf_builder_add(&b,
			&(struct elf_builder_section){ .name = section,
						       .type = SHT_DYNSYM,
						       .link = strings,
						       .data = symbols,
						       .size = n * sizeof(*symbols) });
	if (versions)
		elf_builder_add(&b, &(struct elf_builder_section){
					    .name = ".gnu.version",
					    .type = SHT_GNU_versym,
					    .data = versions,
					    .size = n * sizeof(*versions) });
	elf_builder_add(&b,
			&(struct elf_builder_section){ .name = ".text",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .address = 0x1000,
						       .data = code,
						       .size = sizeof(code) });
	elf_builder_write(&b, &bytes);
	assert_int_equal(object_over(&bytes, "test", &o, NULL), 0);
	return o;
}

static struct symtab *symtab_of(struct object *o, const char *section)
{
	struct symtab *t = symtab_new();

	symtab_add_ranges(t, o);
	assert_int_not_equal(symtab_add_section(t, o, section), 0);
	symtab_finish(t);
	return t;
}

/* As of glibc, which keeps cfree for programs that were linked with an old one. */
static void a_version_that_nothing_is_linked_with_gives_way(void **state)
{
	static const char names[] = "\0cfree\0free\0old_wait\0wait_inside";
	static const Elf64_Sym symbols[] = {
		{ 0 },
		{ FUNCTION(STB_GLOBAL), AT(0x1000, 1) },
		{ FUNCTION(STB_GLOBAL), AT(0x1000, 7) },
		{ FUNCTION(STB_GLOBAL), AT(0x1100, 12) },
		{ FUNCTION(STB_LOCAL), AT(0x1100, 21) },
	};
	static const uint16_t versions[] = { 0, 0x8002, 2, 0x8002, 0 };
	static const uint16_t all_default[] = { 0, 2, 2, 2, 0 };
	own(object_freep) struct object *o =
		object_of(".dynsym", symbols, 5, versions, names, sizeof(names));
	own(object_freep) struct object *unhidden =
		object_of(".dynsym", symbols, 5, all_default, names, sizeof(names));
	own(object_freep) struct object *unversioned =
		object_of(".dynsym", symbols, 5, NULL, names, sizeof(names));
	own(symtab_freep) struct symtab *t = symtab_of(o, ".dynsym");
	own(symtab_freep) struct symtab *u = symtab_of(unhidden, ".dynsym");
	own(symtab_freep) struct symtab *v = symtab_of(unversioned, ".dynsym");

	(void)state;
	assert_string_equal(name_at(t, 0x1008), "free");
	assert_string_equal(name_at(t, 0x1108), "old_wait"); /* others may know it */
	assert_string_equal(name_at(u, 0x1008), "cfree");    /* by the alphabet */
	assert_string_equal(name_at(v, 0x1008), "cfree");
}

/* Versions are of .dynsym's symbols; a .symtab beside it has them in names. */
static void a_version_in_a_name_is_one_too(void **state)
{
	static const char names[] = "\0cfree@V_1\0free@@V_1\0also_free\0new@@V_2";
	static const Elf64_Sym symbols[] = {
		{ 0 },
		{ FUNCTION(STB_GLOBAL), AT(0x1000, 1) },
		{ FUNCTION(STB_GLOBAL), AT(0x1000, 11) },
		{ FUNCTION(STB_GLOBAL), AT(0x1100, 21) },
		{ FUNCTION(STB_GLOBAL), AT(0x1100, 31) },
	};
	static const uint16_t versions[] = { 0, 2, 0x8002, 0x8002, 2 };
	own(object_freep) struct object *o =
		object_of(".symtab", symbols, 5, versions, names, sizeof(names));
	own(symtab_freep) struct symtab *t = symtab_of(o, ".symtab");

	(void)state;
	assert_string_equal(name_at(t, 0x1008), "free@@V_1");
	assert_string_equal(name_at(t, 0x1108), "also_free");
}

static void a_weak_name_is_better_than_one_of_the_library_s_own(void **state)
{
	static const char names[] = "\0_IO_puts\0puts\0zeta\0alpha\0__own\0local";
	static const Elf64_Sym symbols[] = {
		{ 0 },
		{ FUNCTION(STB_GLOBAL), AT(0x1000, 1) },
		{ FUNCTION(STB_WEAK), AT(0x1000, 10) },
		{ FUNCTION(STB_GLOBAL), AT(0x1100, 15) },
		{ FUNCTION(STB_WEAK), AT(0x1100, 20) },
		{ FUNCTION(STB_WEAK), AT(0x1200, 26) },
		{ FUNCTION(STB_LOCAL), AT(0x1200, 32) },
	};
	own(object_freep) struct object *o =
		object_of(".dynsym", symbols, 7, NULL, names, sizeof(names));
	own(symtab_freep) struct symtab *t = symtab_of(o, ".dynsym");

	(void)state;
	assert_string_equal(name_at(t, 0x1008), "puts");
	assert_string_equal(name_at(t, 0x1108), "zeta");
	assert_string_equal(name_at(t, 0x1208), "__own");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_bound_functions_and_open_ones_reach_to_the_next),
		cmocka_unit_test(the_most_public_name_of_an_address_is_kept),
		cmocka_unit_test(a_version_that_nothing_is_linked_with_gives_way),
		cmocka_unit_test(a_version_in_a_name_is_one_too),
		cmocka_unit_test(a_weak_name_is_better_than_one_of_the_library_s_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
