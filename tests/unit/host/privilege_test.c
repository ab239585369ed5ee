/* SPDX-License-Identifier: Apache-2.0 */
#include "host/privilege.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void each_level_of_paranoia_forbids_more(void **state)
{
	static const struct {
		int64_t paranoid;
		bool own_user, own_kernel, machine;
	} t[] = {
		{ -1, true, true, true },   { 0, true, true, true },
		{ 1, true, true, false },   { 2, true, false, false },
		{ 3, false, false, false }, { 4, false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct privilege p = { .paranoid = t[i].paranoid };

		assert_int_equal(privilege_check(&p, PRIVILEGE_OWN_USER, NULL) == 0,
				 t[i].own_user);
		assert_int_equal(privilege_check(&p, PRIVILEGE_OWN_KERNEL, NULL) == 0,
				 t[i].own_kernel);
		assert_int_equal(privilege_check(&p, PRIVILEGE_MACHINE, NULL) == 0,
				 t[i].machine);
	}
}

static void the_capability_allows_all_and_a_refusal_says_what_to_do(void **state)
{
	struct privilege p = { .paranoid = 4, .may_perfmon = true };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(privilege_check(&p, PRIVILEGE_MACHINE, &e), 0);
	p.may_perfmon = false;
	assert_int_equal(privilege_check(&p, PRIVILEGE_MACHINE, &e), ERR_UNSUPPORTED);
	assert_non_null(strstr(e.text, "kernel.perf_event_paranoid=0"));
}

static void administration_is_kept_only_where_events_ask_for_it(void **state)
{
	const uint64_t admin = UINT64_C(1) << 21, perfmon = UINT64_C(1) << 38;

	(void)state;
	for (int64_t paranoid = -1; paranoid <= 4; paranoid++) {
		uint64_t caps = privilege_observer_caps(paranoid);

		assert_int_equal((caps & admin) != 0, paranoid >= 3);
		assert_true(caps & perfmon);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_level_of_paranoia_forbids_more),
		cmocka_unit_test(the_capability_allows_all_and_a_refusal_says_what_to_do),
		cmocka_unit_test(administration_is_kept_only_where_events_ask_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
