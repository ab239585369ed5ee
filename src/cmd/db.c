/* SPDX-License-Identifier: Apache-2.0
 *
 * dwell db: looks after databases of epochs.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/command.h"
#include "cmd/database_options.h"
#include "cmd/db_verb.h"
#include "cmd/output_file.h"

static const struct db_verb *const verbs[] = { &db_compact, &db_export, &db_ls,
					       &db_merge,   &db_verify, NULL };

static const struct option_spec own_options[] = {
	DATABASE_OPTIONS_SELECT,
	{ .name = "output",
	  .short_name = 'o',
	  .kind = OPTION_STRING,
	  .arg = "PATH",
	  .text = "merge, export: write there, a recording when PATH ends with .dwell, "
		  "else a database" },
	{ .name = "keep",
	  .kind = OPTION_LIST,
	  .arg = "WHAT",
	  .text = "merge: of recordings keep apart each of: processes, threads, cpus "
		  "(default: processes of a command, executable and cgroup are one)" },
	{ .name = "max-age",
	  .kind = OPTION_STRING,
	  .arg = "TIME",
	  .text = "compact: remove what ended before TIME: -30d, 2026-10-01" },
	{ .name = "max-size",
	  .kind = OPTION_SIZE,
	  .arg = "SIZE",
	  .text = "compact: remove the oldest until a host's part is no larger" },
	{ .name = "json", .kind = OPTION_FLAG, .text = "ls, verify: print JSON" },
	{ .name = "width",
	  .kind = OPTION_U64,
	  .arg = "COLUMNS",
	  .min = 40,
	  .max = 10000,
	  .default_text = "the terminal's, else 80",
	  .text = "ls: fit the text into COLUMNS" },
	OPTION_END,
};

static const struct db_verb *find_verb(const char *name)
{
	for (size_t i = 0; verbs[i]; i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

static int no_verb(const char *word, struct err *e)
{
	const char *names[sizeof(verbs) / sizeof(verbs[0])] = { NULL };
	const char *near;
	char safe[100];

	for (size_t i = 0; verbs[i]; i++)
		names[i] = verbs[i]->name;
	near = word ? option_nearest(word, names) : NULL;
	if (!word)
		return err_set(e, ERR_USAGE,
			       "say what to do: ls, verify, compact, export or merge");
	text_printable(safe, sizeof(safe), word);
	if (near)
		return err_set(e, ERR_USAGE, "no 'dwell db %s': did you mean '%s'?", safe,
			       near);
	return err_set(e, ERR_USAGE,
		       "no 'dwell db %s': ls, verify, compact, export and merge there "
		       "are",
		       safe);
}

static int run(struct options *o, struct err *e)
{
	char *const *words = options_argv(o);
	const struct db_verb *verb = words[0] ? find_verb(words[0]) : NULL;
	unsigned n = 0;

	output_file_allow_failure();
	if (!verb)
		return no_verb(words[0], e);
	while (words[n + 1])
		n++;
	if (n < verb->min_operands || n > verb->max_operands)
		return err_set(e, ERR_USAGE, "usage: dwell db %s %s", verb->name,
			       verb->operands);
	return verb->run(o, words + 1, e);
}

static const struct option_spec *const tables[] = { own_options, NULL };

static const struct command_example examples[] = {
	{ "dwell db ls /var/lib/dwell", "the epochs, with their times and sizes" },
	{ "dwell db verify /var/lib/dwell", "read every byte and check it" },
	{ "dwell db export --since -2h -o last.dwell /var/lib/dwell",
	  "two hours as one recording" },
	{ "dwell db merge -o all /mnt/ant /mnt/bee", "two databases in one" },
	{ "dwell db compact --max-age -30d /var/lib/dwell",
	  "merge what can be merged and drop what is old" },
	{ NULL, NULL },
};

const struct command cmd_db = {
	.name = "db",
	.usage = "ls|verify|compact|export|merge [options] DATABASE…",
	.summary = "List, check, pack, export and merge databases of epochs",
	.description =
		"A database is a directory: for each host, for each epoch, segments that "
		"each hold some minutes, hours or the whole epoch. A host's directory "
		"or an epoch's can be named where a database can; every report reads "
		"them, too.\n\n"
		"ls lists the epochs with their times, samples and sizes.\n"
		"verify reads everything, checks every checksum and names what is "
		"damaged.\n"
		"compact merges segments of hours that have passed and of epochs that "
		"have ended, and with --max-age and --max-size removes the oldest. It "
		"is refused while a daemon writes, which does the same by itself.\n"
		"export writes what is selected as one recording.\n"
		"merge reads any databases, epochs and recordings and adds them, as "
		"epochs of their own, to the database at -o, or makes one recording of "
		"them when -o ends with .dwell.",
	.options = tables,
	.examples = examples,
	.group = "other",
	.run = run,
};
