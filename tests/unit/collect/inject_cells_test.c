/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_cells.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BASE  UINT64_C(0x10000)
#define HOOKS UINT64_C(0x9000)
#define LO    UINT64_C(0x8000)
#define HI    UINT64_C(0xa000)

struct note {
	Elf64_Nhdr head;
	char name[8];
	int32_t distance;
};

/* An object of a process, from its headers on. */
static struct {
	Elf64_Ehdr header;
	Elf64_Phdr phdrs[2];
	struct note other, note;
	uint64_t cell, dynamic;
} object;

#define CELL (BASE + offsetof(__typeof__(object), cell))
#define MAPS                                                                             \
	"00001000-00002000 r--p 00000000 08:01 7 /other\n"                               \
	"00010000-00011000 r--p 00000000 08:01 42 /object\n"                             \
	"00011000-00012000 rw-p 00001000 08:01 42 /object\n"

static bool read_object(void *ctx, uint64_t at, void *to, size_t bytes)
{
	(void)ctx;
	if (at < BASE || at + bytes > BASE + sizeof(object))
		return false;
	memcpy(to, (const char *)&object + (at - BASE), bytes);
	return true;
}

static bool write_object(void *ctx, uint64_t at, uint64_t value)
{
	(void)ctx;
	memcpy((char *)&object + (at - BASE), &value, sizeof(value));
	return true;
}

static const struct inject_memory process = { .read = read_object };

static void set_up(void)
{
	memset(&object, 0, sizeof(object));
	memcpy(object.header.e_ident, ELFMAG, SELFMAG);
	object.header.e_phoff = offsetof(__typeof__(object), phdrs);
	object.header.e_phentsize = sizeof(Elf64_Phdr);
	object.header.e_phnum = 2;
	object.phdrs[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_memsz = 4096 };
	object.phdrs[1] = (Elf64_Phdr){
		.p_type = PT_NOTE,
		.p_align = 4,
		.p_vaddr = offsetof(__typeof__(object), other),
		.p_memsz = 2 * sizeof(struct note),
	};
	object.other = (struct note){ { 6, 4, 2 }, "dwell", 8 };
	object.note = (struct note){ { 6, 4, 1 }, "dwell", 0 };
	object.note.distance = (int32_t)(offsetof(__typeof__(object), cell) -
					 offsetof(__typeof__(object), note.distance));
}

static struct inject_cells find(uint64_t dynamic)
{
	struct inject_objects objects = { 0 };
	struct inject_cells c = { 0 };

	*vec_push(&objects.at) =
		(struct inject_object){ .bias = BASE, .dynamic = dynamic };
	inject_cells_find(&c, &process, &objects, MAPS, sizeof(MAPS) - 1);
	inject_objects_fini(&objects);
	return c;
}

static void a_note_tells_where_the_cell_is(void **state)
{
	struct inject_cells c;

	(void)state;
	set_up();
	c = find(0x11008);
	assert_int_equal(c.at.n, 1);
	assert_int_equal(c.at.at[0], CELL);
	inject_cells_fini(&c);
}

static void other_notes_and_other_files_tell_nothing(void **state)
{
	struct inject_cells c;

	(void)state;
	set_up();
	c = find(0x1008);
	assert_int_equal(c.at.n, 0);
	object.note.name[0] = 'D';
	inject_cells_fini(&c);
	c = find(0x11008);
	assert_int_equal(c.at.n, 0);
	object.note.name[0] = 'd';
	object.note.distance++;
	inject_cells_fini(&c);
	c = find(0x11008);
	assert_int_equal(c.at.n, 0);
	object.note.head.n_namesz = UINT32_MAX;
	inject_cells_fini(&c);
	c = find(0x11008);
	assert_int_equal(c.at.n, 0);
	inject_cells_fini(&c);
}

static void what_holds_nothing_or_ours_leads_to_us_and_back(void **state)
{
	static const struct {
		uint64_t was, is, restored;
	} cases[] = {
		{ 0, HOOKS, 0 },
		{ LO + 8, HOOKS, 0 },
		{ 0x1234, 0x1234, 0x1234 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_ours = cases[i].is == HOOKS;
		struct inject_cells c;

		set_up();
		c = find(0x11008);
		object.cell = cases[i].was;
		assert_int_equal(
			inject_cells_lead(&c, &process, HOOKS, LO, HI, NULL, NULL),
			is_ours);
		assert_int_equal(object.cell, cases[i].was);
		inject_cells_lead(&c, &process, HOOKS, LO, HI, write_object, NULL);
		assert_int_equal(object.cell, cases[i].is);
		assert_int_equal(
			inject_cells_lead(&c, &process, HOOKS, LO, HI, NULL, NULL), 0);
		inject_cells_lead(&c, &process, 0, LO, HI, write_object, NULL);
		assert_int_equal(object.cell, cases[i].restored);
		inject_cells_fini(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_note_tells_where_the_cell_is),
		cmocka_unit_test(other_notes_and_other_files_tell_nothing),
		cmocka_unit_test(what_holds_nothing_or_ours_leads_to_us_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
