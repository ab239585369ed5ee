/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/manpage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"
#include "cmd/command.h"

static const struct option_spec its_own[] = {
	{ .name = "dot", .kind = OPTION_STRING, .arg = "'X'", .text = ".dot 'n' \\" },
	{ 0 },
};
static const struct option_spec *const tables[] = { its_own, NULL };
static const struct command_example examples[] = {
	{ "dwell odd --dot 'a b' \"c\"", "'Tis so" },
	{ 0 },
};
/* Its second line of text would begin with a dot, and the third with an apostrophe. */
static const struct command odd = {
	.name = "odd",
	.usage = "[options] 'x'",
	.summary = "what is odd",
	.description =
		"'quoted' first, and then as much as a line of text has place for here "
		".profile is a file, and so is another that is named after only this one "
		"'again and\n\n"
		"'a' 'b' 'c' 'd' 'e' 'f' 'g' 'h' 'i' 'j' 'k' 'l' 'm' 'n' 'o' 'p'\n\n"
		"  .literal\n  'code' `x`\n\n.last",
	.options = tables,
	.examples = examples,
};

static char *page(void)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	manpage_write(&odd, out);
	fclose(out);
	return text;
}

static void no_line_of_text_is_taken_for_a_request(unused void **state)
{
	static const char *const macros[] = { "Bd", "Bl", "Dd", "Dl",  "Dt", "Ed",
					      "El", "It", "Nd", "Nm",  "Os", "Pp",
					      "Sh", "Ss", "Xr", "\\\"" };
	own(freep) char *text = page();

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		size_t n_known = 0;

		assert_int_not_equal(line[0], '\'');
		if (line[0] != '.')
			continue;
		for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
			n_known += strncmp(line + 1, macros[i], strlen(macros[i])) == 0;
		if (!n_known)
			fail_msg("a request: %s", line);
	}
}

/* What is escaped takes more room than what is read. */
static void no_line_is_longer_than_is_good(unused void **state)
{
	own(freep) char *text = page();

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		if (strlen(line) > 80)
			fail_msg("%zu characters: %s", strlen(line), line);
}

static void words_stand_as_they_are_typed(unused void **state)
{
	static const char *const lines[] = {
		"\n\\(aqquoted\\(aq first, and then",
		"\n\\&.profile is a file",
		"\n\\(aqagain and\n",
		"\n.Bd -literal\n  .literal\n  \\(aqcode\\(aq \\(gax\\(ga\n.Ed\n",
		"\n\\&.last\n",
		"\n.It Fl \"\\-dot\" Ar \"\\(aqX\\(aq\"\n\\&.dot \\(aqn\\(aq \\e.\n",
		"\n.Dl \"dwell odd \\-\\-dot \\(aqa b\\(aq \\(dqc\\(dq\"\n",
	};
	own(freep) char *text = page();

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(text, lines[i]))
			fail_msg("not there: %s\nin %s", lines[i], text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_line_of_text_is_taken_for_a_request),
		cmocka_unit_test(no_line_is_longer_than_is_good),
		cmocka_unit_test(words_stand_as_they_are_typed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
