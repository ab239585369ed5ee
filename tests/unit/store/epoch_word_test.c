/* SPDX-License-Identifier: Apache-2.0 */
#include "store/epoch_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Of a host's epochs 3 to 9, of which 6 is called "3.9": the digits of those that a word
 * names. */
static const char *named(const char *word)
{
	static char names[16];
	size_t n = 0;

	for (uint32_t i = 3; i <= 9; i++) {
		struct epoch_word_epoch epoch = { .number = i,
						  .n_newer = 9 - i,
						  .label = i == 6 ? "3.9" : NULL };

		if (epoch_word_names(word, &epoch))
			names[n++] = (char)('0' + i);
	}
	names[n] = '\0';
	return names;
}

static void a_number_names_one(void **state)
{
	(void)state;
	assert_string_equal(named("4"), "4");
	assert_string_equal(named("2"), "");
	assert_string_equal(named("0"), "");
}

static void negative_numbers_count_from_the_newest(void **state)
{
	(void)state;
	assert_string_equal(named("-1"), "9");
	assert_string_equal(named("-7"), "3");
	assert_string_equal(named("-8"), "");
	assert_string_equal(named("last"), "9");
}

static void a_label_names_what_has_it(void **state)
{
	(void)state;
	assert_string_equal(named("3.9"), "6");
	assert_string_equal(named("3.8"), "");
	assert_string_equal(named(""), "");
}

static void a_range_names_what_lies_in_it(void **state)
{
	(void)state;
	assert_string_equal(named("4..6"), "456");
	assert_string_equal(named("1..4"), "34");
	assert_string_equal(named("6..4"), "");
	assert_string_equal(named("-3..last"), "789");
	assert_string_equal(named("5..-4"), "56");
	assert_string_equal(named("8.."), "89");
	assert_string_equal(named("..4"), "34");
}

static void what_is_neither_names_nothing(void **state)
{
	static const char *const words[] = { "..",     "4.",
					     "4..x",   "x..4",
					     "4...",   "4-6",
					     "lastly", "99999999999999999999" };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_string_equal(named(words[i]), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_names_one),
		cmocka_unit_test(negative_numbers_count_from_the_newest),
		cmocka_unit_test(a_label_names_what_has_it),
		cmocka_unit_test(a_range_names_what_lies_in_it),
		cmocka_unit_test(what_is_neither_names_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
