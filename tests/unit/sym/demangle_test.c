/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sym/demangle.h"

static void names_of_cplusplus_and_rust_become_readable(void **state)
{
	static const struct {
		const char *mangled, *want;
	} t[] = {
		{ "_ZN3foo3barEi", "foo::bar(int)" },
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi",
		  "std::vector<int, std::allocator<int> >::push_back(int&&)" },
		{ "_Z3foov.cold", "foo() [clone .cold]" },
		{ "_ZN1AC1Ev", "A::A()" },
		{ "_ZN1AC4Ev", "A::A()" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  "core::fmt::Write::write_fmt" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNvMs_Cs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo", NULL },
	};
	struct buf text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_true(demangle_name(t[i].mangled, &text));
		if (t[i].want)
			assert_string_equal(buf_str(&text), t[i].want);
	}
	buf_fini(&text);
}

static void what_is_no_mangled_name_is_left_alone(void **state)
{
	static const char *const t[] = { "",	    "main",	  "_Z",
					 "_ZN",	    "_R",	  "printf@plt",
					 "_ZN3foo", "_Z\xff\xfe", "_start" };
	struct buf text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_false(demangle_name(t[i], &text));
		assert_int_equal(text.size, 0);
	}
	buf_fini(&text);
}

/* Each template argument doubles the one before: 2^60 characters when expanded. */
static void a_name_made_to_explode_ends_at_once(void **state)
{
	struct buf name = { 0 }, text = { 0 };

	(void)state;
	buf_puts(&name, "_Z1f1aIiiE");
	for (char c = '0'; c <= '9'; c++)
		buf_printf(&name, "S_IS%c_S%c_E", c, c);
	for (char c = 'A'; c <= 'Z'; c++)
		buf_printf(&name, "S_IS%c_S%c_E", c, c);
	demangle_name(buf_str(&name), &text);
	buf_clear(&name);
	buf_puts(&name, "_Z");
	for (int i = 0; i < 16000; i++)
		buf_puts(&name, "P");
	demangle_name(buf_str(&name), &text);
	buf_fini(&name);
	buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_cplusplus_and_rust_become_readable),
		cmocka_unit_test(what_is_no_mangled_name_is_left_alone),
		cmocka_unit_test(a_name_made_to_explode_ends_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
