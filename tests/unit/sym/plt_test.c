/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/plt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf_builder.h"

#define PLT 0x1000
#define GOT 0x3000

static const char names[] = "\0puts\0memcpy@GLIBC_2.14";

struct stub {
	const uint8_t *code;
	size_t size;
};

/* An object with two imported functions whose slots are at GOT + 0x18 and GOT + 0x20. */
static struct object *object_with(uint16_t machine, const char *section, struct stub stub)
{
	own(elf_builder_fini) struct elf_builder b = { .machine = machine };
	own(buf_fini) struct buf bytes = { 0 };
	Elf64_Sym symbols[3] = { { 0 }, { .st_name = 1 }, { .st_name = 6 } };
	Elf64_Rela slots[2] = {
		{ GOT + 0x18, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 },
		{ GOT + 0x20, ELF64_R_INFO(2, R_X86_64_JUMP_SLOT), 0 },
	};
	struct object *o = NULL;
	uint32_t strings = elf_builder_add(
		&b, &(struct elf_builder_section){ .name = ".dynstr",
						   .type = SHT_STRTAB,
						   .data = names,
						   .size = sizeof(names) });

	elf_builder_add(&b, &(struct elf_builder_section){ .name = ".dynsym",
							   .type = SHT_DYNSYM,
							   .link = strings,
							   .data = symbols,
							   .size = sizeof(symbols) });
	elf_builder_add(&b, &(struct elf_builder_section){ .name = ".rela.plt",
							   .type = SHT_RELA,
							   .data = slots,
							   .size = sizeof(slots) });
	elf_builder_add(&b, &(struct elf_builder_section){ .name = ".got.plt",
							   .type = SHT_PROGBITS,
							   .address = GOT,
							   .data = names,
							   .size = 8 });
	elf_builder_add(&b,
			&(struct elf_builder_section){ .name = section,
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .address = PLT,
						       .data = stub.code,
						       .size = stub.size });
	elf_builder_write(&b, &bytes);
	assert_int_equal(object_over(&bytes, "test", &o, NULL), 0);
	return o;
}

static void check_names(uint16_t machine, const char *section, struct stub stub,
			uint64_t first, uint64_t second)
{
	own(object_freep) struct object *o = object_with(machine, section, stub);
	own(symtab_freep) struct symtab *t = symtab_new();
	own(arena_fini) struct arena made = { 0 };
	const struct symtab_symbol *s;

	plt_add_symbols(t, o, &made);
	symtab_finish(t);
	assert_int_equal(symtab_count(t), 2);
	s = symtab_find(t, first + 3);
	assert_non_null(s);
	assert_string_equal(s->name, "puts@plt");
	s = symtab_find(t, second);
	assert_non_null(s);
	assert_string_equal(s->name, "memcpy@plt");
}

#define STUB(bytes) ((struct stub){ (const uint8_t *)(bytes), sizeof(bytes) - 1 })

/* The first 16 bytes of .plt call the dynamic linker and have no name. */
static void lazy_stubs_of_x86_64_are_named(void **state)
{
	(void)state;
	check_names(EM_X86_64, ".plt",
		    STUB("\xff\x35\x02\x20\0\0\xff\x25\x04\x20\0\0\x0f\x1f\x40\0"
			 "\xff\x25\x02\x20\0\0\x68\0\0\0\0\xe9\xe0\xff\xff\xff"
			 "\xff\x25\xfa\x1f\0\0\x68\1\0\0\0\xe9\xd0\xff\xff\xff"),
		    PLT + 16, PLT + 32);
}

static void stubs_behind_endbr64_are_named(void **state)
{
	(void)state;
	check_names(EM_X86_64, ".plt.sec",
		    STUB("\xf3\x0f\x1e\xfa\xff\x25\x0e\x20\0\0\x66\x0f\x1f\x44\0\0"
			 "\xf3\x0f\x1e\xfa\xf2\xff\x25\x05\x20\0\0\x0f\x1f\x44\0\0"),
		    PLT, PLT + 16);
}

static void stubs_of_8_bytes_are_named(void **state)
{
	(void)state;
	check_names(EM_X86_64, ".plt.got",
		    STUB("\xff\x25\x12\x20\0\0\x66\x90\xff\x25\x12\x20\0\0\x66\x90"), PLT,
		    PLT + 8);
}

static void stubs_of_i386_are_named_by_address_and_from_the_got(void **state)
{
	(void)state;
	check_names(EM_386, ".plt",
		    STUB("\xff\x25\x18\x30\0\0\x68\0\0\0\0\xe9\xe0\xff\xff\xff"
			 "\xff\xa3\x20\0\0\0\x68\x08\0\0\0\xe9\xd0\xff\xff\xff"),
		    PLT, PLT + 16);
}

static void stubs_of_aarch64_are_named(void **state)
{
	(void)state;
	/* adrp x16, +2 pages; ldr x17, [x16, #24]; add; br x17 */
	check_names(EM_AARCH64, ".plt",
		    STUB("\x10\0\0\xd0\x11\x0e\x40\xf9\x10\x62\0\x91\x20\x02\x1f\xd6"
			 "\x10\0\0\xd0\x11\x12\x40\xf9\x10\x82\0\x91\x20\x02\x1f\xd6"),
		    PLT, PLT + 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lazy_stubs_of_x86_64_are_named),
		cmocka_unit_test(stubs_behind_endbr64_are_named),
		cmocka_unit_test(stubs_of_8_bytes_are_named),
		cmocka_unit_test(stubs_of_i386_are_named_by_address_and_from_the_got),
		cmocka_unit_test(stubs_of_aarch64_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
