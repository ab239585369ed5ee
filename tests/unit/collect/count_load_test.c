/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_load.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "wire/count_program.h"

struct program {
	Elf64_Ehdr head;
	Elf64_Phdr parts[3];
	uint8_t code[100];
};

static struct program make(void)
{
	struct program p = {
		.head = { .e_ident = ELFMAG,
			  .e_type = ET_DYN,
			  .e_phoff = offsetof(struct program, parts),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 3,
			  .e_entry = 0x1010 },
		.parts = { { .p_type = PT_NOTE },
			   { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_offset = offsetof(struct program, code),
			     .p_vaddr = 0x1008,
			     .p_filesz = 100,
			     .p_memsz = 100 },
			   { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_W,
			     .p_vaddr = 0x3000,
			     .p_memsz = 0x1001 } },
	};

	return p;
}

static int parse(const struct program *p, struct count_load *ret)
{
	return count_load_parse((const uint8_t *)p, sizeof(*p), ret, NULL);
}

static void parts_are_whole_pages_and_know_what_the_file_has(void **state)
{
	struct program p = make();
	struct count_load l;

	(void)state;
	assert_int_equal(parse(&p, &l), 0);
	assert_int_equal(l.bytes, 0x5000);
	assert_int_equal(l.entry, 0x1010);
	assert_int_equal(l.n_parts, 2);
	assert_int_equal(l.parts[0].off, 0x1000);
	assert_int_equal(l.parts[0].bytes, 0x1000);
	assert_int_equal(l.parts[0].at, 0x1008);
	assert_ptr_equal(l.parts[0].data, p.code);
	assert_true(l.parts[0].is_exec);
	assert_int_equal(l.parts[1].bytes, 0x2000);
	assert_int_equal(l.parts[1].data_bytes, 0);
	assert_false(l.parts[1].is_exec);
}

static void what_reaches_beyond_the_file_is_refused(void **state)
{
	struct program p = make();
	struct count_load l;

	(void)state;
	assert_true(count_load_parse((const uint8_t *)&p, 10, &l, NULL) < 0);
	p.parts[1].p_filesz = p.parts[1].p_memsz = sizeof(p);
	assert_true(parse(&p, &l) < 0);
	p = make();
	p.parts[1].p_offset = UINT64_MAX - 50;
	assert_true(parse(&p, &l) < 0);
	p = make();
	p.parts[1].p_memsz = 10;
	assert_true(parse(&p, &l) < 0);
	p = make();
	p.head.e_phnum = 1000;
	assert_true(parse(&p, &l) < 0);
	p = make();
	p.head.e_entry = 0x5000;
	assert_true(parse(&p, &l) < 0);
	p = make();
	p.head.e_type = ET_EXEC;
	assert_true(parse(&p, &l) < 0);
}

static void the_engine_itself_can_be_loaded(void **state)
{
	struct count_load l;

	(void)state;
	if (!count_program_size)
		skip();
	assert_int_equal(count_load_parse(count_program, count_program_size, &l, NULL),
			 0);
	assert_true(l.n_parts >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_whole_pages_and_know_what_the_file_has),
		cmocka_unit_test(what_reaches_beyond_the_file_is_refused),
		cmocka_unit_test(the_engine_itself_can_be_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
