/* SPDX-License-Identifier: Apache-2.0
 *
 * option - command-line options as const tables: parsing, help, man pages, completion.
 *
 * A command lists its options once; everything that must know them reads the list.
 * Values are checked (kind, range, unit) while parsing.
 */
#ifndef DWELL_CMD_OPTION_H
#define DWELL_CMD_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

enum option_kind {
	OPTION_FLAG,
	OPTION_STRING,
	OPTION_LIST,   /* may be repeated, and takes commas */
	OPTION_REPEAT, /* may be repeated, commas are part of the value */
	OPTION_U64,
	OPTION_DURATION, /* ns; bare numbers in .unit */
	OPTION_SIZE,
	OPTION_CHOICE, /* one of .choices */
};

struct option_spec {
	const char *name; /* long name without dashes */
	char short_name;  /* 0: none */
	enum option_kind kind;
	const char *arg;   /* shown for the value: "FILE" */
	bool is_optional;  /* the value, which is then attached: --name=FILE */
	uint64_t min, max; /* of numbers; max 0: no limit */
	const char *unit;
	const char *choices;	  /* "a|b|c" */
	const char *default_text; /* shown; the command applies it */
	const char *text;	  /* one sentence */
};

#define OPTION_END                                                                       \
	{                                                                                \
		.name = NULL                                                             \
	}

struct options;

/* Parse argv[1..]; stops at the first operand when stop_early (commands that run
 * another command), always at "--".  tables: NULL-terminated list of spec arrays. */
must_use int options_parse(const struct option_spec *const *tables, bool stop_early,
			   int argc, char *const *argv, struct options **ret,
			   struct err *e);
void options_free(struct options *o);
void options_freep(struct options **o);

/* Whether the tables have it at all, for code that serves several commands. */
bool options_knows(const struct options *o, const char *name);
/* By long name, which must be in the tables (asserted). */
bool options_has(const struct options *o, const char *name);
const char *options_str(const struct options *o, const char *name); /* NULL unset */
uint64_t options_u64(const struct options *o, const char *name, uint64_t otherwise);
size_t options_count(const struct options *o, const char *name);
const char *options_at(const struct options *o, const char *name, size_t i);
/* All of them, NULL-terminated, in a list that is the caller's; NULL: none. */
const char **options_list(const struct options *o, const char *name);

/* What is left after the options. */
int options_argc(const struct options *o);
char *const *options_argv(const struct options *o); /* NULL-terminated */
bool options_had_dashes(const struct options *o);   /* "--" was given */

/* The name most like word in a NULL-terminated list, or NULL when none is near. */
const char *option_nearest(const char *word, const char *const *names);

#endif
