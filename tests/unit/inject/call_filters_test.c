/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "inject/call_filters.h"

static void the_number_is_that_of_its_line(void **state)
{
	static const struct {
		const char *status;
		uint32_t count;
	} t[] = {
		{ "Name:\tcat\nSeccomp:\t2\nSeccomp_filters:\t13\nX:\t4\n", 13 },
		{ "Name:\tcat\nSeccomp:\t0\nSeccomp_filters:\t0\n", 0 },
		{ "Name:\tcat\nSeccomp:\t2\n", 1 }, /* before Linux 5.9 */
		{ "Name:\tcat\nSeccomp:\t0\n", 0 },
		{ "Name:\tSeccomp:\t2\nSeccomp:\t0\n", 0 },
		{ "Name:\tcat\nGroups:\t1 2 3", UINT32_MAX },
		{ "Name:\tcat\nSeccomp", UINT32_MAX },
		{ "", UINT32_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(call_filters_count(t[i].status, strlen(t[i].status)),
				 t[i].count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_is_that_of_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
