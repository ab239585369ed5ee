/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/names.h"
#include "base/own.h"

static void a_name_without_parameters_ends_before_them(void **state unused)
{
	static const struct {
		const char *name, *want;
	} t[] = {
		{ "main", "main" },
		{ "f(int, char*)", "f" },
		{ "ns::f<int (*)(long)>(double) const", "ns::f<int (*)(long)>" },
		{ "A::operator()(int) const", "A::operator()" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "n::(anonymous namespace)::f(int)", "n::(anonymous namespace)::f" },
		{ "A::operator->() const", "A::operator->" },
		{ "A::operator()", "A::operator()" },
		{ "f(int)::{lambda(auto)#1}::operator()(int) const",
		  "f(int)::{lambda(auto)#1}::operator()" },
		{ "f(int)::{lambda()#1}", "f(int)::{lambda()#1}" },
		{ "f(int (*)(char)) [clone .cold]", "f" },
		{ "<T as core::fmt::Debug>::fmt", "<T as core::fmt::Debug>::fmt" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(names_without_parameters(t[i].name), strlen(t[i].want));
}

static void a_name_is_typed_with_as_many_scopes_as_one_likes(void **state unused)
{
	static const struct {
		const char *name;
		unsigned n_scopes;
		const char *want;
	} t[] = {
		{ "main", 0, "main" },
		{ "main", 3, "main" },
		{ "Board::ok(int, std::string) const", 0, "ok" },
		{ "Board::ok(int, std::string) const", 1, "Board::ok" },
		{ "ns::Board::ok()", 1, "Board::ok" },
		{ "void ns::Box<int>::f<long>(long)", 0, "f" },
		{ "void ns::Box<int>::f<long>(long)", 1, "Box<int>::f" },
		{ "void ns::Box<int>::f<long>(long)", 2, "ns::Box<int>::f" },
		{ "std::vector<a::b, c::d<e> >::push_back(a::b&&)", 0, "push_back" },
		{ "A::operator->() const", 0, "operator->" },
		{ "A::operator>(A const&)", 1, "A::operator>" },
		{ "f(int)::{lambda(a::b)#1}::operator()(int) const", 0, "operator()" },
		{ "(anonymous namespace)::solve(int)", 0, "solve" },
		{ "core::iter::sum", 1, "iter::sum" },
		{ "", 0, "" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char s[100];

		assert_string_equal(names_typed(s, sizeof(s), t[i].name, t[i].n_scopes),
				    t[i].want);
	}
}

static void functions_and_files_are_found_by_the_short_form(void **state unused)
{
	assert_true(names_is_function("f(int)", "f"));
	assert_true(names_is_function("f(int)", "f(int)"));
	assert_false(names_is_function("ff(int)", "f"));
	assert_true(names_is_file("/usr/src/a.c", "a.c"));
	assert_true(names_is_file("/usr/src/a.c", "src/a.c"));
	assert_true(names_is_file("/usr/src/a.c", "/usr/src/a.c"));
	assert_false(names_is_file("/usr/src/ba.c", "a.c"));
	assert_string_equal(names_base("/usr/lib/libc.so.6"), "libc.so.6");
	assert_string_equal(names_base("[kernel]"), "[kernel]");
}

static void a_word_stands_between_no_letters(void **state)
{
	static const struct {
		const char *have, *want;
		bool is_word;
	} t[] = {
		{ "f [eval]:1:11", "f", true },
		{ "JS:*f file.js:3", "f", true },
		{ "ns::f<int>(char)", "f", true },
		{ "free", "f", false },
		{ "of", "f", false },
		{ "f_2 or else f", "f", true },
		{ "f_2", "f", false },
		{ "g(f)", "f", false }, /* it is a parameter */
		{ "é::fé", "f", false },
		{ "f", "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(names_is_word(t[i].have, t[i].want), t[i].is_word);
}

static void a_shortened_name_finds_the_whole_one(void **state unused)
{
	static const char name[] = "std::map<std::string, int>::insert(int)";

	assert_true(names_is_part(name, "map"));
	assert_true(names_is_part(name, "std::map<…>::insert"));
	assert_true(names_is_part(name, "…::insert"));
	assert_true(names_is_part(name, "…"));
	assert_false(names_is_part(name, "insert…map"));
	assert_false(names_is_part(name, "std::map<…>::erase"));
}

static void
a_long_name_loses_parameters_then_templates_then_its_middle(void **state unused)
{
	static const char name[] =
		"std::map<std::string, std::vector<int>>::insert(std::pair<int, int>)";
	static const struct {
		size_t width;
		const char *want;
	} t[] = {
		{ 80, name },
		{ 60, "std::map<std::string, std::vector<int>>::insert" },
		{ 45, "std::map<std::string, std::vector<…>>::insert" },
		{ 25, "std::map<…>::insert" },
		{ 12, "…::insert" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char s[200];

		names_shorten(s, sizeof(s), name, t[i].width);
		assert_string_equal(s, t[i].want);
	}
}

static void what_says_most_of_a_long_name_is_kept(void **state unused)
{
	static const struct {
		const char *name;
		size_t width;
		const char *want;
	} t[] = {
		{ "libpython3.11.so.1.0", 17, "libpython3.11.so…" },
		{ "/usr/lib/locale/locale-archive", 20, "/usr…/locale-archive" },
		{ "/usr/lib/locale/locale-archive", 10, "…e-archive" },
		{ "/usr/include/x86_64-linux-gnu/sys/cdefs.h", 20,
		  "/usr/i…u/sys/cdefs.h" },
		{ "TCP 127.0.0.1:41000->10.0.0.22:80", 20, "TCP 1…->10.0.0.22:80" },
		{ "TCP [::1]:41000->[::1]:80", 20, "TCP [:…000->[::1]:80" },
		{ "v8::internal::CodeSerializer::Serialize", 30,
		  "…::CodeSerializer::Serialize" },
		{ "v8::internal::CodeSerializer::Serialize", 15, "…::Serialize" },
		{ "v8::internal::CodeSerializer::Serialize", 10, "…Serialize" },
		{ "int n::A<int>::f(int)", 8, "…A<…>::f" },
		{ "x86_64-linux-gnu-as", 12, "x86…x-gnu-as" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char s[200];

		names_shorten(s, sizeof(s), t[i].name, t[i].width);
		assert_string_equal(s, t[i].want);
	}
}

static void text_is_cut_at_its_end(void **state unused)
{
	char s[64];

	assert_string_equal(names_cut_end(s, sizeof(s), "python3 -c print(1)", 30),
			    "python3 -c print(1)");
	assert_string_equal(names_cut_end(s, sizeof(s), "python3 -c print(1)", 12),
			    "python3 -c …");
	assert_string_equal(names_cut_end(s, sizeof(s), "a\033b", 30), "a\\x1bb");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_without_parameters_ends_before_them),
		cmocka_unit_test(a_name_is_typed_with_as_many_scopes_as_one_likes),
		cmocka_unit_test(text_is_cut_at_its_end),
		cmocka_unit_test(functions_and_files_are_found_by_the_short_form),
		cmocka_unit_test(
			a_long_name_loses_parameters_then_templates_then_its_middle),
		cmocka_unit_test(a_word_stands_between_no_letters),
		cmocka_unit_test(a_shortened_name_finds_the_whole_one),
		cmocka_unit_test(what_says_most_of_a_long_name_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
