/* SPDX-License-Identifier: Apache-2.0
 *
 * command - one const struct per command, listed in commands.def.
 *
 * main() parses by the tables and calls run(); an error is printed in one line as
 * "dwell NAME: text".  Only cmd/ prints.
 */
#ifndef DWELL_CMD_COMMAND_H
#define DWELL_CMD_COMMAND_H

#include "base/err.h"
#include "cmd/option.h"

enum exit_code {
	EXIT_OK = 0,
	EXIT_ERROR = 1, /* bad input, a failed system call */
	EXIT_USAGE = 2,
	/* dwell run ends with the command's own code, 128 + signal when killed,
	 * 126/127 when it could not be started. */
};

struct command_example {
	const char *line, *text;
};

struct command {
	const char *name;
	const char *usage;	 /* after the name: "[options] -- COMMAND…" */
	const char *summary;	 /* one line without a full stop */
	const char *description; /* paragraphs for help and man page */
	const struct option_spec *const *options; /* NULL-terminated list of tables */
	const struct command_example *examples;	  /* ends with .line NULL */
	bool stop_early;			  /* options end at the first operand */
	const char *group; /* "record", "report", "other": for the overview */
	/* Returns an exit code, or a negative enum err_code with e set. */
	int (*run)(struct options *o, struct err *e);
};

extern const struct command *const commands[];

/* Set by main(): the terminal's columns (80 when not a terminal) and colour. */
struct terminal {
	unsigned width;
	bool colour, is_tty;
};
const struct terminal *command_terminal(void);

#endif
