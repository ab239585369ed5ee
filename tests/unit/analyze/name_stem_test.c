/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/name_stem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

struct stem {
	const char *name, *stem;
};

static void check(void (*stem)(const char *, struct buf *), const struct stem *t,
		  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		own(buf_fini) struct buf b = { 0 };

		stem(t[i].name, &b);
		assert_string_equal(buf_str(&b), t[i].stem);
	}
}

static void what_compilers_add_to_a_function_goes(void **state unused)
{
	static const struct stem t[] = {
		{ "f", "f" },
		{ "f.isra.0", "f" },
		{ "f.constprop.1.isra.0", "f" },
		{ "f.part.0.cold", "f" },
		{ "f.cold.3", "f" },
		{ "f.lto_priv.0", "f" },
		{ "f.llvm.17234928374", "f" },
		{ "f(int) [clone .isra.0]", "f(int)" },
		{ "f(int) [clone .part.1] [clone .cold]", "f(int)" },
		{ "a::f::h0123456789abcdef", "a::f" },
		{ "_ZN1a1f17h0123456789abcdefE", "_ZN1a1f" },
		{ "a::f::h0123456789abcdef.llvm.12", "a::f" },
	};

	check(name_stem_function, t, sizeof(t) / sizeof(t[0]));
}

static void what_belongs_to_a_name_stays(void **state unused)
{
	static const struct stem t[] = {
		{ "", "" },
		{ ".cold", ".cold" },
		{ "main.main", "main.main" }, /* Go */
		{ "pkg.f.func1", "pkg.f.func1" },
		{ "memcpy@plt", "memcpy@plt" },
		{ "v.12", "v.12" },
		{ "isra.0", "isra.0" },
		{ "f[abi:cxx11]", "f[abi:cxx11]" },
		{ "x::h0123", "x::h0123" },
		{ "operator[]", "operator[]" },
		{ "]", "]" },
	};

	check(name_stem_function, t, sizeof(t) / sizeof(t[0]));
}

static void versions_of_files_become_one(void **state unused)
{
	static const struct stem t[] = {
		{ "libfoo.so.1.2", "libfoo.so.#" },
		{ "libfoo.so.13", "libfoo.so.#" },
		{ "prog-1.0", "prog-#" },
		{ "prog-1.10.3", "prog-#" },
		{ "python3.11", "python#" },
		{ "prog", "prog" },
		{ "7z.", "#z." },
	};

	check(name_stem_image, t, sizeof(t) / sizeof(t[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_compilers_add_to_a_function_goes),
		cmocka_unit_test(what_belongs_to_a_name_stays),
		cmocka_unit_test(versions_of_files_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
