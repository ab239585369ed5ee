/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_vtables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "400000-401000 r-xp 00000000 08:01 7 /bin/x\n"
			   "401000-402000 r--p 00001000 08:01 7 /bin/x\n"
			   "402000-403000 rw-p 00000000 00:00 0 \n"
			   "500000-501000 r-xp 00000000 00:00 0 \n"
			   "501000-502000 r-xp 00000000 00:00 0 [vdso]\n";

#define FIRST 0x401000

struct memory {
	uint64_t words[512]; /* of the second mapping */
	unsigned n_reads;
};

static bool read_memory(void *ctx, uint64_t address, void *to, size_t size)
{
	struct memory *m = ctx;

	m->n_reads++;
	if (address < FIRST || address - FIRST + size > sizeof(m->words))
		return false;
	memcpy(to, (const char *)m->words + (address - FIRST), size);
	return true;
}

static void a_table_begins_with_two_functions_of_files(void **state)
{
	static const struct {
		uint64_t words[4];
		bool is_one;
	} t[] = {
		{ { 0x400010, 0x400020 }, true },
		{ { 0, 0x400010, 0, 0x400020 }, true },
		{ { 0x400010, 0x400020, 1 }, true },
		{ { 0x400010, 1, 0x400020 }, false },
		{ { 1, 0x400010, 0x400020 }, false },
		{ { 0x400010 }, false },
		{ { 0x400010, FIRST }, false },
		{ { 0x400010, 0x500010 }, false },
		{ { 0x400010, 0x501010 }, false },
		{ { 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct heap_vtables tables = { 0 };
		struct memory m = { 0 };

		heap_vtables_of_text(&tables, text, strlen(text));
		memcpy(m.words + 8, t[i].words, sizeof(t[i].words));
		assert_int_equal(heap_vtables_has(&tables, FIRST + 64, read_memory, &m),
				 t[i].is_one);
		assert_int_equal(heap_vtables_has(&tables, FIRST + 64, read_memory, &m),
				 t[i].is_one);
		assert_int_equal(m.n_reads, 1);
		heap_vtables_fini(&tables);
	}
}

static void a_table_is_in_a_file(void **state)
{
	struct heap_vtables tables = { 0 };
	struct memory m = { 0 };

	(void)state;
	heap_vtables_of_text(&tables, text, strlen(text));
	m.words[510] = m.words[511] = 0x400010;
	assert_true(heap_vtables_has(&tables, FIRST + 510 * 8, read_memory, &m));
	assert_false(heap_vtables_has(&tables, FIRST + 511 * 8, read_memory, &m));
	assert_int_equal(m.n_reads, 2);
	assert_false(heap_vtables_has(&tables, FIRST + 510 * 8 + 1, read_memory, &m));
	assert_false(heap_vtables_has(&tables, 0x402000, read_memory, &m));
	assert_false(heap_vtables_has(&tables, 0x500000, read_memory, &m));
	assert_false(heap_vtables_has(&tables, 8, read_memory, &m));
	assert_int_equal(m.n_reads, 2);
	/* What cannot be read is none. */
	assert_false(heap_vtables_has(&tables, 0x400000, read_memory, &m));
	heap_vtables_fini(&tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_begins_with_two_functions_of_files),
		cmocka_unit_test(a_table_is_in_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
