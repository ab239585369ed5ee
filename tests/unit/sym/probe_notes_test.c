/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/probe_notes.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "elf_builder.h"

struct given {
	uint64_t address, mark, semaphore;
	const char *provider, *name, *arguments;
};

static void add_address(struct buf *b, uint64_t address, bool is_64)
{
	if (is_64)
		buf_u64le(b, address);
	else
		buf_u32le(b, (uint32_t)address);
}

static void add_text(struct buf *b, const char *s)
{
	if (s)
		buf_add(b, s, strlen(s) + 1);
}

static void add_note(struct buf *b, const struct given *g, bool is_64)
{
	own(buf_fini) struct buf desc = { 0 };

	add_address(&desc, g->address, is_64);
	add_address(&desc, g->mark, is_64);
	add_address(&desc, g->semaphore, is_64);
	add_text(&desc, g->provider);
	add_text(&desc, g->name);
	add_text(&desc, g->arguments);
	buf_u32le(b, 8);
	buf_u32le(b, (uint32_t)desc.size);
	buf_u32le(b, 3);
	buf_add(b, "stapsdt", 8);
	buf_add(b, desc.data, desc.size);
	while (b->size & 3)
		buf_u8(b, 0);
}

static const struct given several[] = {
	{ 0x2000, 0x100, 0x4000, "db", "query", "8@%rax -4@$1" },
	{ 0x1000, 0x100, 0x4000, "db", "query", "8@%rdi -4@$2" },
	{ 0x1000, 0x100, 0x4000, "db", "query", "8@%rdi -4@$2" },
	{ 0x3000, 0x100, 0, "db", "begin", "" },
	{ 0x1800, 0x100, 0, "app", "query", "" },
};

static void parse(const struct given *g, size_t n, bool is_64, uint64_t base,
		  struct buf *b, struct probe_notes **ret)
{
	for (size_t i = 0; i < n; i++)
		add_note(b, &g[i], is_64);
	assert_int_equal(probe_notes_parse(b->data, b->size, is_64, base, ret, NULL), 0);
}

static void places_of_a_probe_stand_behind_each_other(void **state)
{
	(void)state;
	for (int is_64 = 0; is_64 <= 1; is_64++) {
		own(probe_notes_freep) struct probe_notes *p = NULL;
		own(buf_fini) struct buf b = { 0 };
		const struct probe_note *n;
		size_t first;

		parse(several, sizeof(several) / sizeof(several[0]), is_64, 0, &b, &p);
		assert_int_equal(probe_notes_count(p), 4);
		assert_int_equal(probe_notes_find(p, "db:query", &first), 2);
		n = probe_notes_at(p, first);
		assert_int_equal(n[0].address, 0x1000);
		assert_string_equal(n[0].arguments, "8@%rdi -4@$2");
		assert_int_equal(n[0].semaphore, 0x4000);
		assert_int_equal(n[1].address, 0x2000);
		assert_string_equal(n[1].provider, "db");
		assert_string_equal(n[1].name, "query");
		assert_int_equal(probe_notes_find(p, "app:query", &first), 1);
		assert_int_equal(probe_notes_at(p, first)->semaphore, 0);
		assert_int_equal(probe_notes_find(p, "query", &first), 0);
		assert_int_equal(probe_notes_find(p, "", &first), 0);
		assert_string_equal(probe_notes_nearest(p, "db:beginn")->name, "begin");
		assert_null(probe_notes_nearest(p, "nothing like it"));
	}
}

/* The mark was at 0x100, as notes tell, and is elsewhere. */
static void a_file_that_was_moved_has_its_probes_there(void **state)
{
	static const struct {
		bool is_64;
		uint64_t base, address, semaphore;
	} t[] = {
		{ true, 0x100, 0x1800, 0x4000 }, { true, 0x300100, 0x301800, 0x304000 },
		{ true, 0x80, 0x1780, 0x3f80 },	 { false, 0x300100, 0x301800, 0x304000 },
		{ false, 0x80, 0x1780, 0x3f80 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		static const struct given g = { 0x1800, 0x100, 0x4000, "a", "b", "" };
		own(probe_notes_freep) struct probe_notes *p = NULL;
		own(buf_fini) struct buf b = { 0 };

		parse(&g, 1, t[i].is_64, t[i].base, &b, &p);
		assert_int_equal(probe_notes_at(p, 0)->address, t[i].address);
		assert_int_equal(probe_notes_at(p, 0)->semaphore, t[i].semaphore);
	}
}

static void what_is_damaged_is_refused_with_a_text(void **state)
{
	static const struct given bad[] = {
		{ 1, 1, 1, "", "name", "" },
		{ 1, 1, 1, "provider", "", "" },
		{ 1, 1, 1, "provider", "name", NULL },
		{ 1, 1, 1, "provider", NULL, NULL },
		{ 1, 1, 1, NULL, NULL, NULL },
	};
	struct probe_notes *p = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		own(buf_fini) struct buf b = { 0 };
		struct err e = { 0 };

		add_note(&b, &bad[i], true);
		assert_int_equal(probe_notes_parse(b.data, b.size, true, 0, &p, &e),
				 ERR_FORMAT);
		assert_true(e.text[0]);
		assert_int_equal(probe_notes_parse(b.data, b.size - 4, true, 0, &p, NULL),
				 ERR_FORMAT);
		assert_null(p);
	}
}

/* In a file: what is in memory only has no place there. */
static void a_place_is_where_the_file_has_its_code(void **state)
{
	static const struct given g[] = {
		{ 0x40, 0x1000, 0x48, "a", "inside", "" },
		{ 0x7fff0000, 0x1000, 0x7fff0008, "b", "outside", "" },
	};
	own(probe_notes_freep) struct probe_notes *p = NULL;
	own(buf_fini) struct buf notes = { 0 }, file = { 0 };
	char path[] = "/tmp/probe_notes_test.XXXXXX";
	own(closep) int fd = mkstemp(path);
	struct elf_builder elf = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		add_note(&notes, &g[i], true);
	elf_builder_add(&elf, &(struct elf_builder_section){ .name = ".stapsdt.base",
							     .type = SHT_PROGBITS,
							     .address = 0x1010,
							     .data = "",
							     .size = 1 });
	elf_builder_add(&elf, &(struct elf_builder_section){ .name = ".note.stapsdt",
							     .type = SHT_NOTE,
							     .data = notes.data,
							     .size = notes.size });
	elf_builder_write(&elf, &file);
	assert_int_equal(write(fd, file.data, file.size), file.size);
	assert_int_equal(probe_notes_open(path, &p, NULL), 0);
	unlink(path);
	elf_builder_fini(&elf);
	assert_int_equal(probe_notes_machine(p), EM_X86_64);
	assert_int_equal(probe_notes_count(p), 2);
	assert_int_equal(probe_notes_at(p, 0)->offset, 0x50);
	assert_int_equal(probe_notes_at(p, 0)->semaphore_offset, 0x58);
	assert_int_equal(probe_notes_at(p, 1)->offset, 0);
	assert_int_equal(probe_notes_at(p, 1)->semaphore_offset, 0);
}

static void a_file_without_notes_has_no_probes(void **state)
{
	own(probe_notes_freep) struct probe_notes *p = NULL;

	(void)state;
	assert_int_equal(probe_notes_open("/proc/self/exe", &p, NULL), 0);
	assert_int_equal(probe_notes_count(p), 0);
	assert_null(probe_notes_nearest(p, "a:b"));
	assert_true(probe_notes_open("/dev/null", &p, NULL) < 0);
	assert_true(probe_notes_open("/nowhere", &p, NULL) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_a_probe_stand_behind_each_other),
		cmocka_unit_test(a_file_that_was_moved_has_its_probes_there),
		cmocka_unit_test(what_is_damaged_is_refused_with_a_text),
		cmocka_unit_test(a_place_is_where_the_file_has_its_code),
		cmocka_unit_test(a_file_without_notes_has_no_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
