/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/event_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/stall.h"

#define NOTHING STALL_N_CAUSES

struct name_case {
	const char *name;
	unsigned cause;
	bool is_precise;
};

static void names_tell_of_causes_whatever_is_behind_them(void **state)
{
	static const struct name_case t[] = {
		{ "l1d-misses", STALL_DCACHE, false },
		{ "l1d-misses:u", STALL_DCACHE, false },
		{ "dTLB-load-misses:upp", STALL_DTLB, true },
		{ "cpu/cache-misses/", STALL_DCACHE, false },
		{ "cpu_core/branch-misses/pp", STALL_BRANCH, true },
		{ "itlb-misses:uk", STALL_ITLB, false },
		{ "L1-icache-load-misses", STALL_ICACHE, false },
		{ "dtlb-misses:k", NOTHING, false },
		{ "cpu/branch-misses/h", NOTHING, false },
		{ "cpu/event=0x2e,umask=0x41/u", NOTHING, false },
		{ "dtlb", NOTHING, false },
		{ "dtlb-misses2", NOTHING, false },
		{ "instructions:u", NOTHING, false },
		{ "cpu-time", NOTHING, false },
		{ "", NOTHING, false },
		{ "/", NOTHING, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct event_name *n = event_name_find(t[i].name);

		if ((n ? n->cause : NOTHING) != t[i].cause)
			print_error("# %s\n", t[i].name);
		assert_int_equal(n ? n->cause : NOTHING, t[i].cause);
		assert_int_equal(event_name_is_precise(t[i].name), t[i].is_precise);
		assert_true(!n || (n->worst > n->near && n->near >= 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_of_causes_whatever_is_behind_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
