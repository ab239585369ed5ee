/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/symtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_bound_functions_and_open_ones_reach_to_the_next),
		cmocka_unit_test(the_most_public_name_of_an_address_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
