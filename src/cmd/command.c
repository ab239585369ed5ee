/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/text.h"
#include "cmd/help.h"

#define COMMAND(name) extern const struct command cmd_##name;
#include "cmd/commands.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "cmd/commands.def"
#undef COMMAND
	NULL
};

/* What dwell starts itself: no list shows it. */
extern const struct command cmd_segments;

static const struct option_spec common_options[] = {
	{ .name = "color",
	  .kind = OPTION_CHOICE,
	  .arg = "WHEN",
	  .choices = "auto|always|never",
	  .default_text = "auto: on a terminal, unless NO_COLOR is set",
	  .text = "Colour the output" },
	{ .name = "help",
	  .short_name = 'h',
	  .kind = OPTION_FLAG,
	  .text = "Show this help" },
	OPTION_END,
};

static struct terminal terminal = { .width = 80 };

const struct terminal *command_terminal(void)
{
	return &terminal;
}

static void detect_terminal(const char *when)
{
	const char *columns = getenv("COLUMNS"), *no_color = getenv("NO_COLOR");
	struct winsize size;
	uint64_t width;

	terminal.is_tty = isatty(STDOUT_FILENO);
	terminal.colour = terminal.is_tty && !(no_color && *no_color);
	if (when && strcmp(when, "auto") != 0)
		terminal.colour = strcmp(when, "always") == 0;
	if (columns && text_parse_u64(columns, &width, NULL) == 0 && width &&
	    width < 10000)
		terminal.width = (unsigned)width;
	else if (terminal.is_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
		 size.ws_col)
		terminal.width = size.ws_col;
}

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return strcmp(name, cmd_segments.name) == 0 ? &cmd_segments : NULL;
}

const char *command_nearest(const char *misspelt)
{
	const char *names[sizeof(commands) / sizeof(commands[0])] = { NULL };

	for (size_t i = 0; commands[i]; i++)
		names[i] = commands[i]->name;
	return option_nearest(misspelt, names);
}

void command_tables(const struct command *c, const struct option_spec **tables)
{
	size_t n = 0;

	for (size_t i = 0; c->options && c->options[i]; i++) {
		assert(n + 2 < COMMAND_TABLES);
		tables[n++] = c->options[i];
	}
	tables[n++] = common_options;
	tables[n] = NULL;
}

static int print_error(const struct command *c, int rc, const struct err *e)
{
	char safe[sizeof(e->text) * 4];

	fprintf(stderr, "dwell %s: %s", c->name,
		text_printable(safe, sizeof(safe), e->text));
	if (rc == ERR_USAGE)
		fprintf(stderr, " (see 'dwell help %s')", c->name);
	fputc('\n', stderr);
	return rc == ERR_USAGE ? EXIT_USAGE : EXIT_ERROR;
}

/* A reader that has seen enough (`| head`) is no failure; a full disk is. */
static int finish_output(const struct command *c, int rc)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return rc;
	if (errno != EPIPE)
		fprintf(stderr, "dwell %s: cannot write the output: %s\n", c->name,
			strerror(errno));
	return rc == EXIT_OK && errno != EPIPE ? EXIT_ERROR : rc;
}

int command_main(const struct command *c, int argc, char **argv)
{
	const struct option_spec *tables[COMMAND_TABLES];
	own(options_freep) struct options *o = NULL;
	struct err e = { 0 };

	command_tables(c, tables);

	int rc = options_parse(tables, c->stop_early, argc, argv, &o, &e);

	if (rc < 0)
		return print_error(c, rc, &e);
	detect_terminal(options_str(o, "color"));
	if (options_has(o, "help")) {
		help_command(c, stdout);
		return finish_output(c, EXIT_OK);
	}
	rc = c->run(o, &e);
	if (rc >= 0)
		return finish_output(c, rc);
	fflush(stdout); /* what is known comes before why there is no more */
	return print_error(c, rc, &e);
}
