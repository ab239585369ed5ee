/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/report_profile.h"

/* What other profilers call it. */
static const struct {
	const char *word, *here;
} elsewhere[] = {
	{ "collect", "run" },	    { "diff", "report A.dwell B.dwell" },
	{ "record", "run" },	    { "script", "export perf-script" },
	{ "stat", "count" },	    { "top", "attach -a -d 5" },
	{ "version", "--version" },
};

static const char *meant(const char *word)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (strcmp(elsewhere[i].word, word) == 0)
			return elsewhere[i].here;
	return command_nearest(word);
}

static int unknown(const char *word)
{
	const char *near = meant(word);
	char safe[256];

	text_printable(safe, sizeof(safe), word);
	if (report_profile_is_file(word)) {
		fprintf(stderr,
			"dwell: the command comes first: dwell report %s (see 'dwell "
			"help')\n",
			safe);
		return EXIT_USAGE;
	}
	fprintf(stderr, "dwell: unknown command '%s'", safe);
	if (near)
		fprintf(stderr, "; did you mean 'dwell %s'?", near);
	fputs(" (see 'dwell help')\n", stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (word && (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)) {
		printf("dwell %s\n", DWELL_VERSION);
		return EXIT_OK;
	}
	if (!word || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		char *help[] = { (char[]){ "help" }, NULL };

		return command_main(command_find("help"), 1, help);
	}

	const struct command *c = command_find(word);

	return c ? command_main(c, argc - 1, argv + 1) : unknown(word);
}
