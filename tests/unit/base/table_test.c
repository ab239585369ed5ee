/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"
#include "base/text.h"

static const struct table_column columns[] = {
	{ .title = "CPU\ntime", .align = TABLE_RIGHT },
	{ .title = "share", .align = TABLE_RIGHT, .min_width = 7 },
	{ .title = "function", .is_elastic = true },
	{ .title = "image" },
};

static struct table *sample(void)
{
	struct table *t = table_new(columns, 4);

	table_row(t);
	table_strong(t);
	table_cell(t, "12.5 s");
	table_cell(t, "100.0 %");
	table_cell(t, "<total>");
	table_rule(t);
	table_row(t);
	table_cell(t, "1.50 ms");
	table_cellf(t, "%.1f %%", 0.5);
	table_cell(t, "std::map<int, std::string>::find");
	table_cell(t, "prog");
	return t;
}

static char *print(const struct table *t, const struct table_style *style)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	table_print(t, style, f);
	fclose(f); /* only then text is where it stays */
	return text;
}

static void a_table_is_aligned_and_has_no_trailing_blanks(void **state)
{
	own(table_freep) struct table *t = sample();
	own(freep) char *text = print(t, &(struct table_style){ .width = 0 });

	(void)state;
	assert_string_equal(text,
			    "    CPU\n"
			    "   time    share  function                          image\n"
			    "─────────────────────────────────────────────────────────\n"
			    " 12.5 s  100.0 %  <total>\n"
			    "─────────────────────────────────────────────────────────\n"
			    "1.50 ms    0.5 %  std::map<int, std::string>::find  prog\n");
}

static void the_elastic_column_gives_way_in_its_middle(void **state)
{
	own(table_freep) struct table *t = sample();
	own(freep) char *text =
		print(t, &(struct table_style){ .width = 45, .no_header = true });

	(void)state;
	assert_string_equal(text, " 12.5 s  100.0 %  <total>\n"
				  "─────────────────────────────────────────────\n"
				  "1.50 ms    0.5 %  std::map<i…ing>::find  prog\n");
}

static void of_several_elastic_columns_the_widest_gives_way(void **state)
{
	static const struct table_column three[] = {
		{ .title = "n", .align = TABLE_RIGHT },
		{ .title = "from", .is_elastic = true },
		{ .title = "to", .is_elastic = true, .min_width = 10 },
	};
	own(table_freep) struct table *t = table_new(three, 3);

	(void)state;
	table_row(t);
	table_cell(t, "1");
	table_cell(t, "abcdefghijklmnopqrst");		 /* 20 */
	table_cell(t, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123"); /* 30 */

	own(freep) char *some =
		print(t, &(struct table_style){ .width = 50, .no_header = true });
	own(freep) char *both =
		print(t, &(struct table_style){ .width = 41, .no_header = true });
	own(freep) char *least =
		print(t, &(struct table_style){ .width = 10, .no_header = true });

	assert_string_equal(some, "1  abcdefghijklmnopqrst  ABCDEFGHIJKL…STUVWXYZ0123\n");
	assert_string_equal(both, "1  abcdefghi…mnopqrst  ABCDEFGHI…WXYZ0123\n");
	assert_string_equal(least, "1  abcdefgh…nopqrst  ABCDE…0123\n");
}

static void colour_only_when_asked_for(void **state)
{
	own(table_freep) struct table *t = sample();
	own(freep) char *plain = print(t, &(struct table_style){ .width = 80 });
	own(freep) char *coloured =
		print(t, &(struct table_style){ .width = 80, .colour = true });

	(void)state;
	assert_null(strchr(plain, '\033'));
	assert_non_null(strstr(coloured, "\033[1m 12.5 s  100.0 %  <total>\033[0m\n"));
}

static void wide_characters_keep_the_columns_straight(void **state)
{
	own(table_freep) struct table *t = table_new(columns + 2, 2);
	static const struct table_style style = { .width = 30, .no_header = true };

	(void)state;
	table_row(t);
	table_cell(t, "日本語日本語日本語日本語日本語");
	table_cell(t, "a");
	table_row(t);
	table_cell(t, "grüße");
	table_cell(t, "b");

	own(freep) char *text = print(t, &style);
	size_t first_end = strcspn(text, "\n");

	assert_non_null(strstr(text, "…"));
	text[first_end] = '\0';
	text[strlen(text + first_end + 1) + first_end] = '\0';
	assert_int_equal(text_width(text), 30);
	assert_int_equal(text_width(text + first_end + 1), 30);
}

static void every_width_is_kept_when_there_is_room_for_the_least(void **state)
{
	own(table_freep) struct table *t = sample();

	(void)state;
	for (unsigned width = 45; width < 70; width++) {
		own(freep) char *text = print(t, &(struct table_style){ .width = width });

		for (char *s = text, *end; (end = strchr(s, '\n')); s = end + 1) {
			*end = '\0';
			assert_true(text_width(s) <= width);
		}
	}
}

static void notes_are_below_their_row_and_within_the_width(void **state)
{
	own(table_freep) struct table *t = table_new(columns, 4);
	static const struct table_style style = { .width = 40, .no_header = true };

	(void)state;
	table_row(t);
	table_cell(t, "1 s");
	table_cell(t, "2.0 %");
	table_cell(t, "main");
	table_note(t, 1, "it waited for what comes\033 from far away");
	table_row(t);
	table_cell(t, "12 s");
	table_note(t, 0, "short");

	own(freep) char *text = print(t, &style);

	assert_string_equal(text, " 1 s    2.0 %  main\n"
				  "      it waited for what comes\\x1b from\n"
				  "      far away\n"
				  "12 s\n"
				  "short\n");
}

static void a_long_note_has_half_of_the_width(void **state)
{
	own(table_freep) struct table *t = table_new(columns, 4);
	static const struct table_style style = { .width = 24, .no_header = true };

	(void)state;
	for (int i = 0; i < 2; i++) {
		table_row(t);
		table_cell(t, "1 s");
		table_cell(t, "2.0 %");
		table_cell(t, "main");
		table_note(t, 2, i ? "it waited for long" : "it waited");
	}

	own(freep) char *text = print(t, &style);

	assert_string_equal(text, "1 s    2.0 %  main\n"
				  "              it waited\n"
				  "1 s    2.0 %  main\n"
				  "     it waited for long\n");
}

static void what_is_too_long_goes_on_below(void **state)
{
	static const struct table_column two[] = { { "N", TABLE_RIGHT, false, 0 },
						   { "Text", TABLE_LEFT, true, 16 } };
	static const struct {
		const char *text, *out;
	} t[] = {
		{ "  ↳ short", "12    ↳ short\n" },
		{ "  ↳ walks by -8000 bytes over 63.3 MB", "12    ↳ walks by -8000\n"
							   "        bytes over 63.3\n"
							   "        MB\n" },
		{ "  ↳ miss of 7f0123456789abcdef01", "12    ↳ miss of\n"
						      "        7f012345…abcdef01\n" },
		{ "  ↳ dependency, ≤ 1000.4", "12    ↳ dependency,\n"
					      "        ≤ 1000.4\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(table_freep) struct table *table = table_new(two, 2);

		table_row(table);
		table_cell(table, "12");
		table_cell(table, t[i].text);
		table_continue(table, "    ");

		own(freep) char *text = print(
			table, &(struct table_style){ .width = 25, .no_header = true });

		assert_string_equal(text, t[i].out);
	}
}

static void cells_cannot_control_the_terminal(void **state)
{
	own(table_freep) struct table *t = table_new(columns + 2, 2);

	(void)state;
	table_row(t);
	table_cell(t, "a\033[31mb\n");

	own(freep) char *text = print(t, &(struct table_style){ .no_header = true });

	assert_string_equal(text, "a\\x1b[31mb\\x0a\n");
}

static void an_empty_table_is_its_header(void **state)
{
	own(table_freep) struct table *t = table_new(columns + 2, 2);
	own(freep) char *text = print(t, &(struct table_style){ .width = 80 });

	(void)state;
	assert_string_equal(text, "function  image\n───────────────\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_aligned_and_has_no_trailing_blanks),
		cmocka_unit_test(the_elastic_column_gives_way_in_its_middle),
		cmocka_unit_test(of_several_elastic_columns_the_widest_gives_way),
		cmocka_unit_test(colour_only_when_asked_for),
		cmocka_unit_test(wide_characters_keep_the_columns_straight),
		cmocka_unit_test(every_width_is_kept_when_there_is_room_for_the_least),
		cmocka_unit_test(notes_are_below_their_row_and_within_the_width),
		cmocka_unit_test(a_long_note_has_half_of_the_width),
		cmocka_unit_test(what_is_too_long_goes_on_below),
		cmocka_unit_test(cells_cannot_control_the_terminal),
		cmocka_unit_test(an_empty_table_is_its_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
