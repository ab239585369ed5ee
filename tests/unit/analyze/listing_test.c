/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "fixture.h"

static const struct fixture_stack program[] = {
	{ "main", 1 },
	{ "main;Board::solve(int)", 10 },
	{ "main;Board::ok(int, int) const", 50 },
	{ "main;game::Board::ok(long)", 60 },
	{ "main;Fib::run()", 5 },
	{ "main;fob(int)", 6 },
	{ "main;long fib_of<int>(int)", 7 },
	{ "main;malloc", 8 },
	{ "main;std::vector<int, std::allocator<int> >::push_back(int&&)", 9 },
};

/* "malloc|main" */
static void assert_near(const char *name, const char *want)
{
	own(fixture_freep) struct profile *p =
		fixture_profile(program, sizeof(program) / sizeof(program[0]));
	own(freep) uint32_t *near = NULL;
	own(buf_fini) struct buf got = { 0 };
	size_t n = listing_near(p, name, &near);

	for (size_t i = 0; i < n; i++)
		buf_printf(&got, "%s%s", i ? "|" : "", p->functions.at[near[i]].name);
	assert_string_equal(buf_str(&got), want);
}

static void a_slip_of_the_finger_is_near(void **state unused)
{
	assert_near("mian", "main");
	assert_near("mallok", "malloc");
	assert_near("nothing", "");
	assert_near("fn", ""); /* of so few letters anything is another name */
	assert_near("", "");
}

static void parameters_arguments_and_scopes_are_not_compared(void **state unused)
{
	assert_near("slove", "Board::solve(int)");
	assert_near("Bord::solve", "Board::solve(int)");
	assert_near("Bord::solve(int)", "Board::solve(int)");
	assert_near("fib_if", "long fib_of<int>(int)");
	assert_near("pushback",
		    "std::vector<int, std::allocator<int> >::push_back(int&&)");
}

static void nearer_ones_come_first_then_heavier_ones(void **state unused)
{
	assert_near("Borad::ok", "game::Board::ok(long)|Board::ok(int, int) const");
	assert_near("fobb", "fob(int)");
	assert_near("FOB", "fob(int)");
}

static void case_does_not_matter(void **state unused)
{
	assert_near("fib::run", "Fib::run()");
	assert_near("MALLOC", "malloc");
}

/* A name that was matched to another is found by either, as near as the nearer is. */
static void what_is_the_same_is_found_once(void **state unused)
{
	static const struct fixture_stack stacks[] = { { "main;shove", 50 },
						       { "main;shovel", 1 },
						       { "main;solvo", 2 } };
	own(fixture_freep) struct profile *p = fixture_profile(stacks, 3);
	own(freep) uint32_t *near = NULL;
	uint32_t shove = fixture_function(p, "shove");

	p->functions.at[fixture_function(p, "solvo")].same_as = shove;
	assert_int_equal(listing_near(p, "solvel", &near), 2);
	assert_int_equal(near[0], shove); /* by the other name */
	assert_int_equal(near[1], fixture_function(p, "shovel"));
}

#define MANY 1000000

/* Looked for among those that were found, each of so many would take hours. */
static void a_program_may_have_many_near_names(void **state unused)
{
	own(fixture_freep) struct profile *p = fixture_profile(program, 1);
	struct profile_function near = p->functions.at[0];
	own(freep) uint32_t *found = NULL;

	near.name = near.label = "mallox";
	for (uint32_t i = 0; i < MANY; i++) {
		near.same_as = (uint32_t)p->functions.n;
		*vec_push(&p->functions) = near;
	}
	assert_int_equal(listing_near(p, "malloc", &found), MANY);
	assert_int_equal(found[0], 1);
}

static uint32_t first_of(const struct fixture_stack *stacks, size_t n, const char *name,
			 const char *want)
{
	own(fixture_freep) struct profile *p = fixture_profile(stacks, n);
	own(freep) uint32_t *found = NULL;

	n = listing_find(p, name, &found);
	assert_int_not_equal(n, 0);
	assert_string_equal(p->functions.at[found[0]].name, want);
	return (uint32_t)n;
}

static void a_c_library_has_names_of_its_own(void **state unused)
{
	static const struct fixture_stack inside[] = {
		{ "main;__GI___libc_malloc", 5 },
		{ "main;__GI___libc_malloc;_int_malloc", 50 },
		{ "main;__memset", 5 },
	};
	static const struct fixture_stack outside[] = {
		{ "main;malloc", 5 },
		{ "main;malloc;_int_malloc", 50 },
	};

	assert_int_equal(first_of(inside, 3, "malloc", "__GI___libc_malloc"), 1);
	assert_int_equal(first_of(inside, 3, "memset", "__memset"), 1);
	assert_int_equal(first_of(inside, 3, "_int", "_int_malloc"), 1);
	assert_int_equal(first_of(outside, 2, "__libc_malloc", "malloc"), 1);
	assert_int_equal(first_of(outside, 2, "_int_malloc", "_int_malloc"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slip_of_the_finger_is_near),
		cmocka_unit_test(parameters_arguments_and_scopes_are_not_compared),
		cmocka_unit_test(nearer_ones_come_first_then_heavier_ones),
		cmocka_unit_test(case_does_not_matter),
		cmocka_unit_test(what_is_the_same_is_found_once),
		cmocka_unit_test(a_program_may_have_many_near_names),
		cmocka_unit_test(a_c_library_has_names_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
