/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_pids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

static void the_innermost_of_several_ids_is_its_own(void **state)
{
	static const struct {
		const char *text;
		pid_t inner;
	} cases[] = {
		{ "Name:\tx\nNSpid:\t77\nNSpgid:\t77\n", 0 },
		{ "Name:\tx\nNSpid:\t77\t5\nNSpgid:\t77\t1\n", 5 },
		{ "Name:\tx\nNSpid:\t77\t5\t1\n", 1 },
		{ "Name:\tNSpid:\t7\t3\nPid:\t77\n", 0 }, /* before Linux 4.1 */
		{ "\nNSpid:", 0 },
		{ "\nNSpid:\t1\tx", 0 },
		{ "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(count_pids_inner(cases[i].text), cases[i].inner);
}

static void who_has_our_ids_is_called_so(void **state)
{
	own(count_pids_fini) struct count_pids p = { 0 };

	(void)state;
	assert_int_equal(count_pids_ours(&p, 123), 123);
	assert_int_equal(count_pids_add(&p, getpid(), NULL), 0);
	assert_int_equal(count_pids_ours(&p, (uint32_t)getpid()), getpid());
	assert_int_equal(count_pids_ours(&p, 123), 123);
}

static ino_t own_namespace(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	return st.st_ino;
}

static void who_is_in_another_namespace_is_no_stranger_of_ours(void **state)
{
	own(count_pids_fini) struct count_pids p = { 0 };
	uint64_t other = own_namespace() + 1;
	uint32_t gone = count_pids_find(&p, 1, other);

	(void)state;
	assert_int_equal(count_pids_find(&p, 1, 0), 1);
	assert_int_equal(count_pids_find(&p, 1, own_namespace()), 1);
	assert_true(gone > 1u << 22);
	assert_int_equal(count_pids_find(&p, 1, other), gone);
	assert_int_not_equal(count_pids_find(&p, 2, other), gone);
	assert_int_not_equal(count_pids_find(&p, 1, other + 1), gone);
	/* Sought again, it is still the same one. */
	count_pids_turn(&p);
	assert_int_equal(count_pids_find(&p, 1, other), gone);
	assert_true(count_pids_is_nobodys(gone));
	assert_false(count_pids_is_nobodys((uint32_t)getpid()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_of_several_ids_is_its_own),
		cmocka_unit_test(who_has_our_ids_is_called_so),
		cmocka_unit_test(who_is_in_another_namespace_is_no_stranger_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
