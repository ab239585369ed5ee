/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void durations_have_three_digits_and_the_fitting_unit(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} t[] = {
		{ 0, "0 s" },
		{ 7, "7 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 250000, "250 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 12500000, "12.5 ms" },
		{ 99950000, "100 ms" },
		{ 1430000000, "1.43 s" },
		{ 9995000000, "10.0 s" },
		{ 75300000000, "75.3 s" },
		{ 999500000000, "1,000 s" },
		{ 12345600000000, "12,346 s" },
		{ UINT64_MAX, "18,446,744,074 s" },
	};
	char s[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(text_duration(s, t[i].ns), t[i].want);
}

static void one_of_several_is_singular(void **state)
{
	static const struct {
		uint64_t n;
		const char *plural, *want;
	} t[] = {
		{ 0, "samples", "0 samples" },
		{ 1, "samples", "1 sample" },
		{ 1234, "samples", "1,234 samples" },
		{ 1, "more blocks", "1 more block" },
		{ 1, "processes", "1 process" },
		{ 1, "matches", "1 match" },
		{ 1, "pushes", "1 push" },
		{ 1, "mutexes", "1 mutex" },
		{ 1, "entries", "1 entry" },
		{ 1, "CPUs", "1 CPU" },
		{ 1, "io-sizes", "1 io-size" },
		{ 1, "bus", "1 bus" },
		{ 1, "loss", "1 loss" },
		{ 1, "analysis", "1 analysis" },
		{ 1, "lost", "1 lost" },
		{ UINT64_MAX, "instructions", "18,446,744,073,709,551,615 instructions" },
	};
	char s[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(text_number(s, t[i].n, t[i].plural), t[i].want);
}

static void a_singular_that_has_no_room_is_cut(void **state)
{
	char s[4];

	(void)state;
	assert_string_equal(text_singular(s, sizeof(s), "entries"), "ent");
	assert_string_equal(text_singular(s, sizeof(s), ""), "");
}

static void sizes_are_in_powers_of_1024(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *want;
	} t[] = {
		{ 0, "0 B" },
		{ 312, "312 B" },
		{ 1023, "1023 B" },
		{ 4300, "4.2 KB" },
		{ 430000, "420 KB" },
		{ 1048064, "1.0 MB" },
		{ 1181116006, "1.1 GB" },
		{ UINT64_MAX, "16.0 EB" },
	};
	char s[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(text_size(s, t[i].bytes), t[i].want);
}

static void counts_have_commas(void **state)
{
	char s[TEXT_MAX];

	(void)state;
	assert_string_equal(text_count(s, 0), "0");
	assert_string_equal(text_count(s, 999), "999");
	assert_string_equal(text_count(s, 1000), "1,000");
	assert_string_equal(text_count(s, 1234567), "1,234,567");
	assert_string_equal(text_count(s, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void percentages_never_show_something_as_nothing(void **state)
{
	static const struct {
		double part, whole;
		const char *want;
	} t[] = {
		{ 0, 0, "0.0 %" },	 { 0, 10, "0.0 %" },	 { 10, 10, "100.0 %" },
		{ 123, 1000, "12.3 %" }, { 1, 10000, "0.01 %" }, { 1, 1e9, "<0.01 %" },
		{ 1, 100, "1.0 %" },	 { 1, 200, "0.50 %" },	 { 3, 0, "<0.01 %" },
	};
	char s[TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(text_pct(s, t[i].part, t[i].whole), t[i].want);
}

static void a_value_is_shown_in_its_unit(void **state)
{
	char s[TEXT_MAX];

	(void)state;
	assert_string_equal(text_value(s, 1500000, "ns"), "1.50 ms");
	assert_string_equal(text_value(s, 2048, "bytes"), "2.0 KB");
	assert_string_equal(text_value(s, 2048, "faults"), "2,048");
	assert_string_equal(text_value(s, 2048, NULL), "2,048");
}

static void durations_are_read_with_and_without_unit(void **state)
{
	static const struct {
		const char *s;
		uint64_t ns;
	} t[] = {
		{ "500us", 500000 },
		{ "500\u00b5s", 500000 },
		{ "10ms", 10000000 },
		{ "1s", 1000000000 },
		{ "1.5m", 90000000000 },
		{ "2h", 7200000000000 },
		{ "12", 12000000 },
		{ "0", 0 },
		{ "1 s", 1000000000 },
		{ "0.25ms", 250000 },
		{ "3ns", 3 },
		{ "1d", 86400000000000 },
	};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(text_parse_duration(t[i].s, "ms", &ns, NULL), 0);
		assert_int_equal(ns, t[i].ns);
	}
}

static void what_is_no_number_is_refused_with_a_text(void **state)
{
	static const char *const durations[] = {
		"",
		"ms",
		"-1s",
		"1e3",
		"inf",
		"nan",
		"0x10",
		"1.2.3",
		"1 x",
		"5 lightyears",
		"99999999999999999999h",
	};
	static const char *const numbers[] = {
		"", "-1", "+1", " 1", "0x", "1k", "18446744073709551616"
	};
	uint64_t v = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		struct err e = { 0 };

		assert_int_equal(text_parse_duration(durations[i], "ms", &v, &e),
				 ERR_USAGE);
		assert_true(e.text[0]);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_int_equal(text_parse_u64(numbers[i], &v, NULL), ERR_USAGE);
	assert_int_equal(v, 77);
}

static void sizes_and_numbers_are_read(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(text_parse_size("64K", &v, NULL), 0);
	assert_int_equal(v, 65536);
	assert_int_equal(text_parse_size("10MB", &v, NULL), 0);
	assert_int_equal(v, 10485760);
	assert_int_equal(text_parse_size("1g", &v, NULL), 0);
	assert_int_equal(v, 1073741824);
	assert_int_equal(text_parse_size("17", &v, NULL), 0);
	assert_int_equal(v, 17);
	assert_int_equal(text_parse_u64("0xfF", &v, NULL), 0);
	assert_int_equal(v, 255);
	assert_int_equal(text_parse_u64("18446744073709551615", &v, NULL), 0);
	assert_true(v == UINT64_MAX);
}

static void foreign_names_cannot_control_the_terminal(void **state)
{
	static const struct {
		const char *src, *want;
	} t[] = {
		{ "main", "main" },
		{ "a\nb\033[1m", "a\\x0ab\\x1b[1m" },
		{ "\xff\xc3(", "\\xff\\xc3(" },
		{ "gr\u00fc\u00dfe \u65e5\u672c", "gr\u00fc\u00dfe \u65e5\u672c" },
		{ "\xc2\x9b"
		  "31m",
		  "\\xc2\\x9b31m" }, /* the one-character form of ESC [ */
		{ "x\u202egnp", "x\\xe2\\x80\\xaegnp" },
		{ "\x7f", "\\x7f" },
	};
	char s[64];

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_string_equal(text_printable(s, sizeof(s), t[i].src), t[i].want);
}

static void printable_text_is_cut_between_characters(void **state)
{
	char s[8];

	(void)state;
	assert_string_equal(text_printable(s, sizeof(s), "123456789"), "1234567");
	assert_string_equal(text_printable(s, 4, "ab\u00fc"), "ab");
	assert_string_equal(text_printable(s, 4, "\n"), "");
	assert_string_equal(text_printable(s, 1, "a"), "");
}

static void width_counts_columns_and_not_bytes(void **state)
{
	(void)state;
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("gr\u00fc\u00dfe"), 5);
	assert_int_equal(text_width("\u65e5\u672c"), 4);
	assert_int_equal(text_width("e\u0301"), 1);
	assert_int_equal(text_width("\u2026"), 1);
	assert_int_equal(text_width("\xff"), 1);
}

static void distance_counts_slips_of_the_finger(void **state)
{
	(void)state;
	assert_int_equal(text_distance("report", "report"), 0);
	assert_int_equal(text_distance("reprot", "report"), 1);
	assert_int_equal(text_distance("rport", "report"), 1);
	assert_int_equal(text_distance("reeport", "report"), 1);
	assert_int_equal(text_distance("rebort", "report"), 1);
	assert_int_equal(text_distance("", "abc"), 3);
	assert_int_equal(text_distance("abc", ""), 3);
	assert_int_equal(text_distance("kitten", "sitting"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_three_digits_and_the_fitting_unit),
		cmocka_unit_test(one_of_several_is_singular),
		cmocka_unit_test(a_singular_that_has_no_room_is_cut),
		cmocka_unit_test(sizes_are_in_powers_of_1024),
		cmocka_unit_test(counts_have_commas),
		cmocka_unit_test(percentages_never_show_something_as_nothing),
		cmocka_unit_test(a_value_is_shown_in_its_unit),
		cmocka_unit_test(durations_are_read_with_and_without_unit),
		cmocka_unit_test(what_is_no_number_is_refused_with_a_text),
		cmocka_unit_test(sizes_and_numbers_are_read),
		cmocka_unit_test(foreign_names_cannot_control_the_terminal),
		cmocka_unit_test(printable_text_is_cut_between_characters),
		cmocka_unit_test(width_counts_columns_and_not_bytes),
		cmocka_unit_test(distance_counts_slips_of_the_finger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
