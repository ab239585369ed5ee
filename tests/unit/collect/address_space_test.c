/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/address_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add(struct address_space *s, uint64_t start, uint64_t end, uint64_t user)
{
	address_space_add(
		s, &(struct unwind_map){ .start = start, .end = end, .user = user });
}

/* The user of the mapping at pc, 0: none. */
static uint64_t at(struct address_space *s, uint64_t pc)
{
	const struct unwind_map *m = address_space_find(s, pc);

	return m ? m->user : 0;
}

static void an_address_belongs_to_the_mapping_around_it(void **state)
{
	struct address_space *s = address_space_new();

	(void)state;
	add(s, 0x3000, 0x4000, 2);
	add(s, 0x1000, 0x2000, 1);
	add(s, 0x5000, 0x5000, 3); /* empty: no mapping */
	assert_int_equal(address_space_count(s), 2);
	assert_int_equal(at(s, 0xfff), 0);
	assert_int_equal(at(s, 0x1000), 1);
	assert_int_equal(at(s, 0x1fff), 1);
	assert_int_equal(at(s, 0x2000), 0);
	assert_int_equal(at(s, 0x3800), 2);
	address_space_unref(s);
}

static void a_new_mapping_cuts_what_it_overlaps(void **state)
{
	struct address_space *s = address_space_new();

	(void)state;
	add(s, 0x1000, 0x5000, 1);
	add(s, 0x2000, 0x3000, 2);
	assert_int_equal(address_space_count(s), 3);
	assert_int_equal(at(s, 0x1fff), 1);
	assert_int_equal(at(s, 0x2000), 2);
	assert_int_equal(at(s, 0x3000), 1);
	assert_int_equal(address_space_find(s, 0x3000)->file_offset, 0x2000);
	add(s, 0x0, 0x10000, 3);
	assert_int_equal(address_space_count(s), 1);
	assert_int_equal(at(s, 0x2000), 3);
	address_space_unref(s);
}

static void a_child_shares_until_one_of_them_changes(void **state)
{
	struct address_space *parent = address_space_new(), *child;

	(void)state;
	add(parent, 0x1000, 0x2000, 1);
	child = address_space_ref(parent);
	assert_int_equal(address_space_version(child), address_space_version(parent));
	child = address_space_writable(child);
	add(child, 0x1000, 0x2000, 2);
	assert_int_equal(at(parent, 0x1000), 1);
	assert_int_equal(at(child, 0x1000), 2);
	assert_true(address_space_version(child) != address_space_version(parent));
	assert_ptr_equal(address_space_writable(child), child);
	address_space_unref(child);
	address_space_unref(parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_belongs_to_the_mapping_around_it),
		cmocka_unit_test(a_new_mapping_cuts_what_it_overlaps),
		cmocka_unit_test(a_child_shares_until_one_of_them_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
