/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/filter.h"
#include "analyze/filter_parse.h"

static void what_the_manual_shows_is_accepted(void **state unused)
{
	static const char *const t[] = {
		"thread == worker",
		"function =~ '^parse' && !(image == libc.so.6)",
		"time in 1s..2.5s",
		"time in ..500ms || time >= 3s",
		"cpu in 0..3 and weight > 10",
		"not mode == kernel or leaf != main",
		"function == 'std::vector<int>::push_back'",
		"pid = 12 && tid != 13",
		"address == 0x401000",
		"((((time < 1))))",
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(filter_freep) struct filter *f = NULL;
		struct err e = { 0 };

		if (filter_parse(t[i], &f, &e) < 0)
			fail_msg("%s: %s", t[i], e.text);
	}
}

static void a_refusal_tells_the_place_and_what_was_expected(void **state unused)
{
	static const struct {
		const char *text, *why;
	} t[] = {
		{ "", "expected a field at the end" },
		{ "thread", "expected one of == != =~ !~ < <= > >= in at the end" },
		{ "thread ==", "expected a value at the end" },
		{ "funtion == x", "unknown field 'funtion' at character 1: did you mean "
				  "'function'?" },
		{ "thread == a b", "expected && or || at character 13, not 'b'" },
		{ "(time < 1", "expected ')' at the end" },
		{ "thread == 'a", "the quote at character 11 is not closed" },
		{ "time < 1 & cpu == 1", "a single '&' at character 10: write '&&'" },
		{ "image < 3", "'image' is a text: use == != =~ or !~" },
		{ "cpu =~ 3", "'cpu' is a number: use == != < > or in" },
		{ "time in 2s..1s", "the range 2s..1s is empty" },
		{ "cpu in 2", "expected '..' at the end" },
		{ "leaf =~ '('", "bad pattern '(': Unmatched ( or \\(" },
		{ "leaf =~ 'a{9999}'", "the pattern is too large" },
		{ "leaf =~ 'a{1,9999}'", "the pattern is too large" },
		{ "leaf =~ 'a+++++++++++++'", "the pattern is too large" },
		{ "leaf =~ 'a++b'", "the pattern is too large" },
		{ "leaf =~ 'F+?????]++'", "the pattern is too large" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(filter_freep) struct filter *f = NULL;
		struct err e = { 0 };
		char want[200];

		snprintf(want, sizeof(want), "filter: %s", t[i].why);
		assert_true(filter_parse(t[i].text, &f, &e) < 0);
		assert_string_equal(e.text, want);
		assert_null(f);
	}
}

static void it_is_known_what_is_asked_for(void **state unused)
{
	own(filter_freep) struct filter *f = NULL;

	assert_int_equal(
		filter_parse("leaf == x && !(thread == 'mark' || Mark != y)", &f, NULL),
		0);
	assert_true(filter_asks_for(f, "leaf"));
	assert_true(filter_asks_for(f, "thread"));
	assert_true(filter_asks_for(f, "mark"));
	assert_false(filter_asks_for(f, "interval"));
	assert_false(filter_asks_for(f, "x"));
}

static void and_binds_closer_than_or(void **state unused)
{
	own(filter_freep) struct filter *f = NULL;

	assert_int_equal(filter_parse("cpu==1 || cpu==2 && cpu==3", &f, NULL), 0);

	const struct filter_node *root = &f->nodes.at[f->nodes.n - 1];

	assert_int_equal(root->kind, FILTER_OR);
	assert_int_equal(f->nodes.at[root->right].kind, FILTER_AND);
	assert_int_equal(f->nodes.at[root->left].kind, FILTER_TEST);
}

static void comparisons_become_ranges(void **state unused)
{
	static const struct {
		const char *text;
		uint64_t low, high;
	} t[] = {
		{ "cpu < 3", 0, 2 },
		{ "cpu <= 3", 0, 3 },
		{ "cpu > 3", 4, UINT64_MAX },
		{ "cpu >= 3", 3, UINT64_MAX },
		{ "cpu == 3", 3, 3 },
		{ "cpu < 0", 1, 0 },
		{ "cpu in 2..4", 2, 4 },
		{ "time in 1s..2s", 1000000000, 1999999999 },
		{ "time < 1.5", 0, 1499999999 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(filter_freep) struct filter *f = NULL;

		assert_int_equal(filter_parse(t[i].text, &f, NULL), 0);
		assert_true(f->nodes.at[0].has_range);
		assert_int_equal(f->nodes.at[0].low, t[i].low);
		assert_int_equal(f->nodes.at[0].high, t[i].high);
	}
}

static void nesting_has_a_limit(void **state unused)
{
	own(filter_freep) struct filter *f = NULL;
	char text[400];
	struct err e = { 0 };

	memset(text, '(', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(filter_parse(text, &f, &e), ERR_LIMIT);
	memset(text, '!', sizeof(text) - 1);
	assert_int_equal(filter_parse(text, &f, &e), ERR_LIMIT);
	assert_string_equal(e.text, "filter: nested deeper than 32");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_manual_shows_is_accepted),
		cmocka_unit_test(a_refusal_tells_the_place_and_what_was_expected),
		cmocka_unit_test(it_is_known_what_is_asked_for),
		cmocka_unit_test(and_binds_closer_than_or),
		cmocka_unit_test(comparisons_become_ranges),
		cmocka_unit_test(nesting_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
