/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/help.h"

#include <string.h>

#include "base/text.h"
#include "cmd/completion.h"
#include "cmd/manpage.h"

#define MAX_WIDTH   100 /* longer lines are hard to read */
#define TEXT_COLUMN 30	/* where what an option does begins */

const char help_purpose[] =
	"dwell tells where a program or a machine spends its time, and why";

const struct help_group help_groups[] = {
	{ "record", "Record" },
	{ "report", "Report" },
	{ "other", "Other" },
	{ NULL, NULL },
};

static unsigned line_width(void)
{
	unsigned width = command_terminal()->width;

	return width > MAX_WIDTH ? MAX_WIDTH : width;
}

static void put_heading(FILE *out, const char *title)
{
	if (command_terminal()->colour)
		fprintf(out, "\n\033[1m%s\033[0m\n", title);
	else
		fprintf(out, "\n%s\n", title);
}

static void indent(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

/* Words of s filled into lines that begin in column `left`; the cursor is in column
 * `at` already.  Ends the last line. */
static void put_filled(FILE *out, const char *s, size_t n, size_t left, size_t at)
{
	const char *end = s + n;
	bool is_first = true;

	while (s < end) {
		size_t len = strcspn(s, " \n");

		if (len > (size_t)(end - s))
			len = (size_t)(end - s);

		own(freep) char *word = strndup(s, len);
		size_t width = word ? text_width(word) : 0;

		if (!is_first && at + 1 + width > line_width()) {
			fputc('\n', out);
			at = 0;
		} else if (!is_first) {
			fputc(' ', out);
			at++;
		}
		if (at < left) {
			indent(out, left - at);
			at = left;
		}
		fwrite(s, 1, len, out);
		at += width;
		is_first = false;
		s += len + 1;
	}
	fputc('\n', out);
}

/* Paragraphs are filled; one that begins with a space is shown as it is. */
static void put_paragraphs(FILE *out, const char *s)
{
	while (*s) {
		const char *gap = strstr(s, "\n\n");
		size_t n = gap ? (size_t)(gap - s) : strlen(s);

		fputc('\n', out);
		if (*s == ' ')
			fprintf(out, "%.*s\n", (int)n, s);
		else
			put_filled(out, s, n, 0, 0);
		s += gap ? n + 2 : n;
	}
}

const char *help_option_arg(const struct option_spec *s)
{
	if (s->kind == OPTION_FLAG)
		return NULL;
	if (s->arg)
		return s->arg;
	return s->choices ? s->choices : "VALUE";
}

void help_option_text(const struct option_spec *s, struct buf *ret)
{
	buf_puts(ret, s->text);
	if (s->choices && s->arg) {
		buf_puts(ret, ": ");
		for (const char *c = s->choices; *c; c++) {
			if (*c == '|')
				buf_puts(ret, strchr(c + 1, '|') ? ", " : " or ");
			else
				buf_u8(ret, (uint8_t)*c);
		}
	}
	if (s->default_text)
		buf_printf(ret, " (default %s)", s->default_text);
}

static void put_option(FILE *out, const struct option_spec *s)
{
	const char *arg = help_option_arg(s);
	struct buf head = { 0 }, text = { 0 };

	if (s->short_name)
		buf_printf(&head, "  -%c, --%s", s->short_name, s->name);
	else
		buf_printf(&head, "      --%s", s->name);
	if (arg)
		buf_printf(&head, s->is_optional ? "[=%s]" : " %s", arg);
	fputs(buf_str(&head), out);

	size_t at = text_width(buf_str(&head));

	if (at + 2 > TEXT_COLUMN) {
		fputc('\n', out);
		at = 0;
	}
	help_option_text(s, &text);
	put_filled(out, buf_str(&text), text.size, TEXT_COLUMN, at);
	buf_fini(&head);
	buf_fini(&text);
}

static void put_options(FILE *out, const struct command *c)
{
	const struct option_spec *tables[COMMAND_TABLES];

	put_heading(out, "Options");
	command_tables(c, tables);
	for (size_t i = 0; tables[i]; i++)
		for (const struct option_spec *s = tables[i]; s->name; s++)
			put_option(out, s);
}

static void put_examples(FILE *out, const struct command *c)
{
	if (!c->examples || !c->examples->line)
		return;
	put_heading(out, "Examples");
	for (const struct command_example *x = c->examples; x->line; x++) {
		fprintf(out, "  %s\n", x->line);
		put_filled(out, x->text, strlen(x->text), 6, 0);
	}
}

void help_command(const struct command *c, FILE *out)
{
	fprintf(out, "usage: dwell %s %s\n\n", c->name, c->usage);
	put_filled(out, c->summary, strlen(c->summary), 0, 0);
	if (c->description)
		put_paragraphs(out, c->description);
	put_options(out, c);
	put_examples(out, c);
}

static void put_group(FILE *out, const struct help_group *g)
{
	bool is_first = true;

	for (const struct command *const *c = commands; *c; c++) {
		if (strcmp((*c)->group, g->name) != 0)
			continue;
		if (is_first)
			put_heading(out, g->title);
		is_first = false;
		fprintf(out, "  %-11s", (*c)->name);
		put_filled(out, (*c)->summary, strlen((*c)->summary), 13, 13);
	}
}

void help_overview(FILE *out)
{
	fprintf(out, "%s.\n\nusage: dwell COMMAND [options]\n", help_purpose);
	for (const struct help_group *g = help_groups; g->name; g++)
		put_group(out, g);
	fputs("\nBegin with 'dwell run -- PROGRAM', then 'dwell report'.  "
	      "'dwell help COMMAND' tells more.\n",
	      out);
}

static const struct option_spec help_options[] = {
	{ .name = "man",
	  .kind = OPTION_FLAG,
	  .text = "Write the manual page (mdoc) of COMMAND, or of dwell itself" },
	{ .name = "completion",
	  .kind = OPTION_CHOICE,
	  .arg = "SHELL",
	  .choices = "bash|fish|zsh",
	  .text = "Write the completion script for a shell" },
	OPTION_END,
};

static int no_such_command(const char *name, struct err *e)
{
	const char *near = command_nearest(name);

	if (near)
		return err_set(e, ERR_USAGE,
			       "unknown command '%.60s'; did you mean '%s'?", name, near);
	return err_set(e, ERR_USAGE, "unknown command '%.60s'", name);
}

static int run_help(struct options *o, struct err *e)
{
	const char *shell = options_str(o, "completion");
	const struct command *c = NULL;

	if (options_argc(o) > 1)
		return err_set(e, ERR_USAGE, "one command at a time");
	if (shell) {
		completion_write(shell, stdout);
		return EXIT_OK;
	}
	if (options_argc(o)) {
		c = command_find(options_argv(o)[0]);
		if (!c)
			return no_such_command(options_argv(o)[0], e);
	}
	if (options_has(o, "man"))
		manpage_write(c, stdout);
	else if (c)
		help_command(c, stdout);
	else
		help_overview(stdout);
	return EXIT_OK;
}

const struct command cmd_help = {
	.name = "help",
	.usage = "[options] [COMMAND]",
	.summary = "Explain dwell or one of its commands",
	.description = "Without COMMAND the commands are listed.  Manual pages and shell "
		       "completions are "
		       "made from the same tables that parse the options, so they are "
		       "always complete.",
	.options = (const struct option_spec *const[]){ help_options, NULL },
	.examples =
		(const struct command_example[]){
			{ "dwell help run", "Explain dwell run." },
			{ "source <(dwell help --completion bash)",
			  "Complete commands and options in this shell." },
			{ NULL, NULL },
		},
	.group = "other",
	.run = run_help,
};
