/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct option_spec common[] = {
	{ .name = "verbose", .short_name = 'v', .kind = OPTION_FLAG },
	{ .name = "quiet", .short_name = 'q', .kind = OPTION_FLAG },
	OPTION_END,
};

static const struct option_spec own_options[] = {
	{ .name = "output", .short_name = 'o', .kind = OPTION_STRING, .arg = "FILE" },
	{ .name = "experiment", .short_name = 'e', .kind = OPTION_LIST, .arg = "NAME" },
	{ .name = "filter", .kind = OPTION_REPEAT, .arg = "EXPRESSION" },
	{ .name = "apart", .kind = OPTION_REPEAT, .arg = "FILE", .is_optional = true },
	{ .name = "limit", .short_name = 'n', .kind = OPTION_U64, .min = 1, .max = 1000 },
	{ .name = "interval",
	  .short_name = 'i',
	  .kind = OPTION_DURATION,
	  .unit = "ms",
	  .min = 1000,
	  .max = 10000000000 },
	{ .name = "max-size", .kind = OPTION_SIZE, .min = 4096 },
	{ .name = "sort", .kind = OPTION_CHOICE, .choices = "name|time|samples" },
	OPTION_END,
};

static const struct option_spec *const tables[] = { common, own_options, NULL };

#define WORDS 12

static struct options *parse(bool stop_early, const char *const *words, int *rc,
			     struct err *e)
{
	struct options *o = NULL;
	char *argv[WORDS + 2] = { (char[]){ "command" } };
	int argc = 1;

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)words[argc - 1];
	*rc = options_parse(tables, stop_early, argc, argv, &o, e);
	return o;
}

/* Options live until the test ends; operands are borrowed from the literal. */
#define parsed(o, stop_early, ...)                                                       \
	int rc_##o;                                                                      \
	struct err e_##o = { 0 };                                                        \
	const char *words_##o[] = { __VA_ARGS__, NULL };                                 \
	own(options_freep) struct options *o =                                           \
		parse(stop_early, words_##o, &rc_##o, &e_##o)

static void options_come_in_every_spelling(void **state)
{
	static const char *const spellings[][5] = {
		{ "-i", "1ms", NULL },
		{ "-i1ms", NULL },
		{ "--interval", "1ms", NULL },
		{ "--interval=1ms", NULL },
		{ "-vi1", NULL },
		{ "-qvi", "1000us", NULL },
		{ "-v", "op", "-i", "0.001s", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		int rc;
		own(options_freep) struct options *o =
			parse(false, spellings[i], &rc, NULL);

		assert_int_equal(rc, 0);
		assert_int_equal(options_u64(o, "interval", 0), 1000000);
	}
}

static void values_are_converted_by_kind(void **state)
{
	parsed(o, false, "-o", "x.dwell", "-n12", "--max-size=64K", "--sort", "time",
	       "-v");

	(void)state;
	assert_int_equal(rc_o, 0);
	assert_string_equal(options_str(o, "output"), "x.dwell");
	assert_int_equal(options_u64(o, "limit", 7), 12);
	assert_int_equal(options_u64(o, "max-size", 7), 65536);
	assert_string_equal(options_str(o, "sort"), "time");
	assert_true(options_has(o, "verbose"));
	assert_false(options_has(o, "quiet"));
	assert_null(options_str(o, "filter"));
	assert_int_equal(options_u64(o, "interval", 77), 77);
}

static void lists_split_at_commas_and_repeats_do_not(void **state)
{
	parsed(o, false, "-e", "a,b", "-ec", "--filter", "x,y", "--filter=z");

	(void)state;
	assert_int_equal(rc_o, 0);
	assert_int_equal(options_count(o, "experiment"), 3);
	assert_string_equal(options_at(o, "experiment", 0), "a");
	assert_string_equal(options_at(o, "experiment", 2), "c");
	assert_int_equal(options_count(o, "filter"), 2);
	assert_string_equal(options_at(o, "filter", 0), "x,y");
	assert_null(options_at(o, "filter", 2));
}

static void a_value_that_may_be_left_out_is_attached(void **state)
{
	(void)state;
	parsed(o, true, "--apart", "--apart=x,y", "--apart=", "z");

	assert_int_equal(rc_o, 0);
	assert_true(options_has(o, "apart"));
	assert_int_equal(options_count(o, "apart"), 3);
	assert_null(options_at(o, "apart", 0));
	assert_string_equal(options_at(o, "apart", 1), "x,y");
	assert_string_equal(options_at(o, "apart", 2), "");
	assert_int_equal(options_argc(o), 1);
}

static void between_slashes_commas_part_nothing(void **state)
{
	static const char *const want[] = { "x",	  "cpu/a=1,b=2/u", "y",
					    "cpu/c,d/:7", "e/f",	   "z" };

	parsed(o, false, "-e", "x,cpu/a=1,b=2/u,y,cpu/c,d/:7,e/f,z");

	(void)state;
	assert_int_equal(rc_o, 0);
	assert_int_equal(options_count(o, "experiment"), 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(options_at(o, "experiment", i), want[i]);
}

static void paths_behind_a_colon_hold_no_commas(void **state)
{
	static const char *const want[] = { "k:u:/a/b:f", "k:u:/c/d:g.arg1", "cpu/a,b/",
					    "k:g:n" };

	parsed(o, false, "-e", "k:u:/a/b:f,k:u:/c/d:g.arg1,cpu/a,b/,k:g:n");

	(void)state;
	assert_int_equal(rc_o, 0);
	assert_int_equal(options_count(o, "experiment"), 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(options_at(o, "experiment", i), want[i]);
}

static void the_last_word_counts_and_no_takes_back(void **state)
{
	parsed(o, false, "-n1", "-n2", "-v", "--no-verbose", "--output=x", "--no-output");

	(void)state;
	assert_int_equal(rc_o, 0);
	assert_int_equal(options_u64(o, "limit", 0), 2);
	assert_false(options_has(o, "verbose"));
	assert_null(options_str(o, "output"));
}

static void operands_may_stand_between_options(void **state)
{
	parsed(o, false, "a", "-v", "b", "-", "--", "-q", "--");

	(void)state;
	assert_int_equal(rc_o, 0);
	assert_true(options_had_dashes(o));
	assert_int_equal(options_argc(o), 5);
	assert_string_equal(options_argv(o)[2], "-");
	assert_string_equal(options_argv(o)[3], "-q");
	assert_string_equal(options_argv(o)[4], "--");
	assert_null(options_argv(o)[5]);
	assert_false(options_has(o, "quiet"));
}

static void a_command_keeps_its_own_options(void **state)
{
	parsed(o, true, "-v", "ls", "-q", "--", "-o");

	(void)state;
	assert_int_equal(rc_o, 0);
	assert_false(options_had_dashes(o));
	assert_int_equal(options_argc(o), 4);
	assert_string_equal(options_argv(o)[1], "-q");
	assert_false(options_has(o, "quiet"));
}

static void what_is_wrong_is_said_with_a_way_out(void **state)
{
	static const struct {
		const char *const words[4];
		const char *want;
	} t[] = {
		{ { "--fliter", "x" },
		  "unknown option '--fliter'; did you mean '--filter'?" },
		{ { "--exp=a" }, "unknown option '--exp'; did you mean '--experiment'?" },
		{ { "--xyzzy" }, "unknown option '--xyzzy'" },
		{ { "-vx" }, "unknown option '-x'" },
		{ { "-o" }, "--output (-o) needs FILE" },
		{ { "--verbose=1" }, "--verbose takes no value" },
		{ { "-n0" }, "--limit (-n): must be more than 0" },
		{ { "-n", "1001" }, "--limit (-n): must be at most 1000" },
		{ { "-n", "many" }, "--limit (-n): 'many' is not a number" },
		{ { "-n", "-3" }, "--limit (-n): '-3' is negative" },
		{ { "-i", "-1ms" }, "--interval (-i): '-1ms' is negative" },
		{ { "-i", "-v" }, "--interval (-i): '-v' is not a number" },
		{ { "-i", "11s" }, "--interval (-i): must be at most 10.0 s" },
		{ { "--max-size=1K" }, "--max-size: must be at least 4.0 KB" },
		{ { "--sort", "tim" },
		  "--sort: 'tim' is not one of name, time, samples" },
		{ { "-e", "a,,b" }, "--experiment: an empty NAME" },
		{ { "--no-xyzzy" }, "unknown option '--no-xyzzy'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct err e = { 0 };
		int rc;
		struct options *o = parse(false, t[i].words, &rc, &e);

		assert_int_equal(rc, ERR_USAGE);
		assert_null(o);
		assert_string_equal(e.text, t[i].want);
	}
}

static void only_near_names_are_suggested(void **state)
{
	static const char *const names[] = { "report", "record", "run", NULL };

	(void)state;
	assert_string_equal(option_nearest("reprot", names), "report");
	assert_string_equal(option_nearest("rec", names), "record");
	assert_string_equal(option_nearest("rn", names), "run");
	assert_null(option_nearest("xyzzy", names));
	assert_null(option_nearest("", names));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_come_in_every_spelling),
		cmocka_unit_test(values_are_converted_by_kind),
		cmocka_unit_test(lists_split_at_commas_and_repeats_do_not),
		cmocka_unit_test(a_value_that_may_be_left_out_is_attached),
		cmocka_unit_test(between_slashes_commas_part_nothing),
		cmocka_unit_test(paths_behind_a_colon_hold_no_commas),
		cmocka_unit_test(the_last_word_counts_and_no_takes_back),
		cmocka_unit_test(operands_may_stand_between_options),
		cmocka_unit_test(a_command_keeps_its_own_options),
		cmocka_unit_test(what_is_wrong_is_said_with_a_way_out),
		cmocka_unit_test(only_near_names_are_suggested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
