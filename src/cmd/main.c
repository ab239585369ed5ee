/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/command.h"
#include "cmd/help.h"

static int unknown(const char *word)
{
	const char *near = command_nearest(word);
	char safe[256];

	fprintf(stderr, "dwell: unknown command '%s'",
		text_printable(safe, sizeof(safe), word));
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
