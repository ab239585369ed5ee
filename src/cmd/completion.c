/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/completion.h"

#include <string.h>

#include "cmd/command.h"

/* Calls fn for every option of a command. */
static void each_option(const struct command *c, FILE *out,
			void (*fn)(const struct command *c, const struct option_spec *s,
				   FILE *out))
{
	const struct option_spec *tables[COMMAND_TABLES];

	command_tables(c, tables);
	for (size_t i = 0; tables[i]; i++)
		for (const struct option_spec *s = tables[i]; s->name; s++)
			fn(c, s, out);
}

/* Choices as words: "a|b" becomes "a b". */
static void put_choices(FILE *out, const char *choices)
{
	for (; *choices; choices++)
		fputc(*choices == '|' ? ' ' : *choices, out);
}

/* Inside single quotes of every shell here, and without zsh's brackets and colons. */
static void put_quoted(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("\u2019", out);
		else if (*s == '[' || *s == ']')
			fputc(*s == '[' ? '(' : ')', out);
		else if (*s == ':')
			fputs(" -", out);
		else
			fputc(*s, out);
	}
}

static bool takes_value(const struct option_spec *s)
{
	return s->kind != OPTION_FLAG && !s->is_optional;
}

static void put_bash_word(const struct command *c, const struct option_spec *s, FILE *out)
{
	(void)c;
	fprintf(out, " --%s", s->name);
	if (s->short_name)
		fprintf(out, " -%c", s->short_name);
}

/* The words that may follow an option with a value; none: a file name. */
static void put_bash_value(const struct command *c, const struct option_spec *s,
			   FILE *out)
{
	if (!takes_value(s))
		return;
	fprintf(out, "\t%s:--%s", c->name, s->name);
	if (s->short_name)
		fprintf(out, "|%s:-%c", c->name, s->short_name);
	fputs(") choices='", out);
	if (s->choices)
		put_choices(out, s->choices);
	fputs("' is_value=1 ;;\n", out);
}

static void put_bash_commands(FILE *out)
{
	for (const struct command *const *c = commands; *c; c++)
		fprintf(out, "%s%s", c == commands ? "" : " ", (*c)->name);
}

static void write_bash(FILE *out)
{
	fputs("# bash completion for dwell, made by 'dwell help --completion bash'\n"
	      "_dwell()\n{\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} "
	      "before=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal command=${COMP_WORDS[1]} options='' choices='' is_value=\n"
	      "\tCOMPREPLY=()\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W '",
	      out);
	put_bash_commands(out);
	fputs(" --help --version' -- \"$word\")\n\t\treturn\n\tfi\n"
	      "\tcase $command:$before in\n",
	      out);
	for (const struct command *const *c = commands; *c; c++)
		each_option(*c, out, put_bash_value);
	fputs("\thelp:help) choices='", out);
	put_bash_commands(out);
	fputs("' ;;\n\tesac\n\tcase $command in\n", out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "\t%s) options='", (*c)->name);
		each_option(*c, out, put_bash_word);
		fputs("' ;;\n", out);
	}
	fputs("\tesac\n"
	      "\tif [[ -z $is_value && $word == -* ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
	      "\telif [[ -n $choices ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$word\")\n"
	      "\tfi\n"
	      "}\n"
	      "complete -o bashdefault -o default -F _dwell dwell\n",
	      out);
}

static void put_fish_option(const struct command *c, const struct option_spec *s,
			    FILE *out)
{
	fprintf(out, "complete -c dwell -n '__fish_seen_subcommand_from %s' -l %s",
		c->name, s->name);
	if (s->short_name)
		fprintf(out, " -s %c", s->short_name);
	if (takes_value(s))
		fputs(" -r", out);
	if (s->choices) {
		fputs(" -f -a '", out);
		put_choices(out, s->choices);
		fputc('\'', out);
	}
	fputs(" -d '", out);
	put_quoted(out, s->text);
	fputs("'\n", out);
}

static void write_fish(FILE *out)
{
	fputs("# fish completion for dwell, made by 'dwell help --completion fish'\n",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "complete -c dwell -n __fish_use_subcommand -f -a %s -d '",
			(*c)->name);
		put_quoted(out, (*c)->summary);
		fputs("'\n", out);
		each_option(*c, out, put_fish_option);
	}
}

static void put_zsh_value(const struct option_spec *s, FILE *out)
{
	if (!takes_value(s))
		return;
	fputs(":value:", out);
	if (s->choices) {
		fputc('(', out);
		put_choices(out, s->choices);
		fputc(')', out);
	} else {
		fputs("_files", out);
	}
}

static void put_zsh_option(const struct command *c, const struct option_spec *s,
			   FILE *out)
{
	(void)c;
	fprintf(out, "\t\t'*--%s%s[", s->name, takes_value(s) ? "=" : "");
	put_quoted(out, s->text);
	fputc(']', out);
	put_zsh_value(s, out);
	fputs("' \\\n", out);
	if (!s->short_name)
		return;
	fprintf(out, "\t\t'*-%c%s[", s->short_name, takes_value(s) ? "+" : "");
	put_quoted(out, s->text);
	fputc(']', out);
	put_zsh_value(s, out);
	fputs("' \\\n", out);
}

static void write_zsh(FILE *out)
{
	fputs("#compdef dwell\n"
	      "# zsh completion for dwell, made by 'dwell help --completion zsh'\n"
	      "if ((CURRENT == 2)); then\n"
	      "\tlocal -a commands=(\n",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "\t\t'%s:", (*c)->name);
		put_quoted(out, (*c)->summary);
		fputs("'\n", out);
	}
	fputs("\t)\n\t_describe command commands\n\treturn\nfi\n"
	      "shift words\n((CURRENT--))\ncase $words[1] in\n",
	      out);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(out, "%s)\n\t_arguments -s \\\n", (*c)->name);
		each_option(*c, out, put_zsh_option);
		fputs("\t\t'*::operand:_files' ;;\n", out);
	}
	fputs("esac\n", out);
}

static const struct {
	const char *shell;
	void (*write)(FILE *out);
} shells[] = {
	{ "bash", write_bash },
	{ "fish", write_fish },
	{ "zsh", write_zsh },
};

void completion_write(const char *shell, FILE *out)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].shell, shell) == 0)
			shells[i].write(out);
}
