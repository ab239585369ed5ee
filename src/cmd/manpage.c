/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/manpage.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "cmd/help.h"

#define LINE_WIDTH 78 /* of running text, what is escaped as it is written */

/* What roff would take for something else, or show as another character: words are there
 * to be copied. */
static const char *escape_of(char c)
{
	static const struct {
		char c;
		const char *text;
	} escapes[] = {
		{ '\\', "\\e" },
		{ '-', "\\-" },
		{ '\'', "\\(aq" },
		{ '`', "\\(ga" },
	};

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
		if (escapes[i].c == c)
			return escapes[i].text;
	return NULL;
}

static void put_char(FILE *out, char c)
{
	const char *escape = escape_of(c);

	if (escape)
		fputs(escape, out);
	else
		fputc(c, out);
}

/* What roff reads of it: a character that is not ASCII comes to it by its number. */
static size_t width_of(char c)
{
	const char *escape = escape_of(c);
	unsigned char byte = (unsigned char)c;

	if (byte >= 0x80)
		return byte >= 0xc0 ? strlen("\\[u2026]") : 0;
	return escape ? strlen(escape) : 1;
}

/* As it is; what roff would take for a request is made harmless. */
static void put_literal(FILE *out, const char *s, size_t n)
{
	bool at_start = true;

	for (size_t i = 0; i < n; i++) {
		if (at_start && s[i] == '.')
			fputs("\\&", out);
		put_char(out, s[i]);
		at_start = s[i] == '\n';
	}
	fputc('\n', out);
}

/* A new sentence begins a new line, for the right space after it. */
static bool ends_sentence(const char *s, const char *end)
{
	const char *next = s + strspn(s, " ");

	return s[-1] == '.' && next < end && isupper((unsigned char)*next);
}

/* How many columns the first word takes. */
static size_t word_width(const char *s, const char *end)
{
	size_t width = 0;

	for (; s < end && *s != ' ' && *s != '\n'; s++)
		width += width_of(*s);
	return width;
}

/* Running text, broken into lines. */
static void put_text(FILE *out, const char *s, size_t n)
{
	const char *end = s + n;
	size_t column = 0;

	while (s < end) {
		bool is_blank = *s == ' ' || *s == '\n';

		if (column == 0 && *s == '.')
			fputs("\\&", out);
		if (is_blank && column > 0 &&
		    (column + 1 + word_width(s + 1, end) > LINE_WIDTH ||
		     ends_sentence(s, end))) {
			fputc('\n', out);
			s += strspn(s, " \n");
			column = 0;
			continue;
		}
		put_char(out, is_blank ? ' ' : *s);
		column += width_of(*s);
		s++;
	}
	fputc('\n', out);
}

/* A quoted macro argument; "\&" keeps a word such as "-" from being a delimiter. */
static void put_word(FILE *out, const char *s, size_t n)
{
	fputs(" \"", out);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			fputs("\\(dq", out);
		else
			put_char(out, s[i]);
	}
	fputs("\"", out);
}

static void put_paragraphs(FILE *out, const char *s)
{
	while (*s) {
		const char *gap = strstr(s, "\n\n");
		size_t n = gap ? (size_t)(gap - s) : strlen(s);

		if (*s == ' ') {
			fputs(".Bd -literal\n", out);
			put_literal(out, s, n);
			fputs(".Ed\n", out);
		} else {
			fputs(".Pp\n", out);
			put_text(out, s, n);
		}
		s += gap ? n + 2 : n;
	}
}

static void put_option(FILE *out, const struct option_spec *s)
{
	const char *arg = help_option_arg(s);
	struct buf text = { 0 };

	fputs(".It", out);
	if (s->short_name)
		fprintf(out, " Fl %c ,", s->short_name);
	fputs(" Fl", out);

	struct buf name = { 0 };

	buf_printf(&name, "-%s", s->name);
	put_word(out, buf_str(&name), name.size);
	buf_fini(&name);
	if (arg) {
		fputs(s->is_optional ? " Ns Oo = Ns Ar" : " Ar", out);
		put_word(out, arg, strlen(arg));
		fputs(s->is_optional ? " Oc" : "", out);
	}
	fputc('\n', out);
	help_option_text(s, &text);
	buf_puts(&text, ".");
	put_text(out, buf_str(&text), text.size);
	buf_fini(&text);
}

static void put_options(FILE *out, const struct command *c)
{
	const struct option_spec *tables[COMMAND_TABLES];

	fputs(".Ss Options\n.Bl -tag -width Ds\n", out);
	command_tables(c, tables);
	for (size_t i = 0; tables[i]; i++)
		for (const struct option_spec *s = tables[i]; s->name; s++)
			put_option(out, s);
	fputs(".El\n", out);
}

static void put_exit_status(FILE *out)
{
	static const char of_run[] = "ends with the exit status of the program it ran, "
				     "128 plus the signal's number "
				     "when a signal killed it, 126 when it could not be "
				     "executed and 127 when it was "
				     "not found.";

	fputs(".Sh EXIT STATUS\n"
	      ".Bl -tag -width Ds\n"
	      ".It 0\nSuccess.\n"
	      ".It 1\nBad input or a failed operation; one line on the standard error\n"
	      "says which.\n"
	      ".It 2\nThe command line was not understood.\n"
	      ".El\n"
	      ".Pp\n"
	      ".Nm dwell run\n",
	      out);
	put_text(out, of_run, strlen(of_run));
}

static void put_examples(FILE *out, const struct command *c)
{
	if (!c->examples || !c->examples->line)
		return;
	fputs(".Sh EXAMPLES\n", out);
	for (const struct command_example *x = c->examples; x->line; x++) {
		if (x != c->examples)
			fputs(".Pp\n", out);
		put_text(out, x->text, strlen(x->text));
		fputs(".Pp\n.Dl", out);
		put_word(out, x->line, strlen(x->line));
		fputc('\n', out);
	}
}

/* mdoc has its titles in capitals. */
static void upper(char *s)
{
	for (; *s; s++)
		*s = (char)toupper((unsigned char)*s);
}

static void put_name(FILE *out, const char *name, const char *summary)
{
	char title[64];

	snprintf(title, sizeof(title), "%s", name);
	upper(title);
	fprintf(out,
		".\\\" Made from the option tables by 'dwell help \\-\\-man'.\n"
		".Dd %s\n.Dt %s 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd ",
		DWELL_DATE, title, name);
	put_text(out, summary, strlen(summary));
}

static void write_command(const struct command *c, FILE *out)
{
	char name[64];

	snprintf(name, sizeof(name), "dwell-%s", c->name);
	put_name(out, name, c->summary);
	fprintf(out, ".Sh SYNOPSIS\n.Nm dwell %s\n", c->name);
	put_text(out, c->usage, strlen(c->usage));
	fputs(".Sh DESCRIPTION\n", out);
	put_text(out, c->summary, strlen(c->summary));
	if (c->description)
		put_paragraphs(out, c->description);
	put_options(out, c);
	put_exit_status(out);
	put_examples(out, c);
	fputs(".Sh SEE ALSO\n.Xr dwell 1\n", out);
}

static void put_command_list(FILE *out)
{
	for (const struct help_group *g = help_groups; g->name; g++) {
		bool is_first = true;

		for (const struct command *const *c = commands; *c; c++) {
			if (strcmp((*c)->group, g->name) != 0)
				continue;
			if (is_first)
				fprintf(out, ".Ss %s\n.Bl -tag -width annotate\n",
					g->title);
			is_first = false;
			fprintf(out, ".It Ic %s\n", (*c)->name);
			put_text(out, (*c)->summary, strlen((*c)->summary));
		}
		fputs(is_first ? "" : ".El\n", out);
	}
}

static void write_overview(FILE *out)
{
	put_name(out, "dwell", help_purpose + strlen("dwell "));
	fputs(".Sh SYNOPSIS\n.Nm dwell\n.Ar command\n.Op Ar options\n.Sh DESCRIPTION\n",
	      out);
	put_text(out, help_purpose, strlen(help_purpose));
	put_command_list(out);
	put_exit_status(out);
	fputs(".Sh SEE ALSO\n", out);
	for (const struct command *const *c = commands; *c; c++)
		fprintf(out, ".Xr dwell-%s 1 ,\n", (*c)->name);
	fputs(".Xr dwell-format 5\n", out);
}

void manpage_write(const struct command *c, FILE *out)
{
	if (c)
		write_command(c, out);
	else
		write_overview(out);
}
