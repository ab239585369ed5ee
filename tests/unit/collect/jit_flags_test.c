/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/jit_flags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void pythons_before_3_12_cannot_name_their_functions(void **state)
{
	static const struct {
		const char *path;
		int is_refused;
	} t[] = {
		{ "/usr/bin/python3.11", 1 },
		{ "/usr/lib/x86_64-linux-gnu/libpython3.9.so.1.0", 1 },
		{ "python3.8", 1 },
		{ "/usr/bin/python3.12", 0 },
		{ "/opt/lib/libpython3.13.so.1.0", 0 },
		{ "/usr/bin/python3", 0 },
		{ "/usr/bin/python3.11-config", 0 },
		{ "/usr/lib/python3.11/lib-dynload/_json.cpython-311.so", 0 },
		{ "/usr/bin/node", 0 },
		{ "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(jit_flags_refusal(t[i].path) != NULL, t[i].is_refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pythons_before_3_12_cannot_name_their_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
