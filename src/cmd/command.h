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

/* By name, NULL-terminated. */
extern const struct command *const commands[];

const struct command *command_find(const char *name); /* NULL: no such command */
const char *command_nearest(const char *misspelt);    /* NULL: nothing like it */
/* What every command takes (--help, --color) before its own tables, NULL-terminated;
 * tables is filled. */
#define COMMAND_TABLES 16
void command_tables(const struct command *c, const struct option_spec **tables);
/* argv[0] is the command's name.  Returns the exit code, messages printed. */
int command_main(const struct command *c, int argc, char **argv);

/* The terminal's columns ($COLUMNS, else what it says, else 80), and whether colour
 * is wanted: --color, else a terminal without $NO_COLOR. */
struct terminal {
	unsigned width;
	bool colour, is_tty;
};
const struct terminal *command_terminal(void);

#endif
