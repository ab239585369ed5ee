/* SPDX-License-Identifier: Apache-2.0
 *
 * database_options - which part of a database a command is about.
 */
#ifndef DWELL_CMD_DATABASE_OPTIONS_H
#define DWELL_CMD_DATABASE_OPTIONS_H

#include "base/buf.h"
#include "cmd/option.h"
#include "store/database_query.h"

/* --db and what selects in it. */
#define DATABASE_OPTIONS_SELECT                                                          \
	{ .name = "since",                                                               \
	  .kind = OPTION_STRING,                                                         \
	  .arg = "TIME",                                                                 \
	  .text = "Of a database only what was recorded from TIME on: -2h, 10:30, "      \
		  "yesterday, '2026-11-21 10:30'" },                                     \
		{ .name = "until",                                                       \
		  .kind = OPTION_STRING,                                                 \
		  .arg = "TIME",                                                         \
		  .text = "Of a database only what was recorded before TIME" },          \
		{ .name = "host",                                                        \
		  .kind = OPTION_LIST,                                                   \
		  .arg = "NAME",                                                         \
		  .text = "Of a database only these hosts" },                            \
		{ .name = "epoch",                                                       \
		  .kind = OPTION_LIST,                                                   \
		  .arg = "EPOCH",                                                        \
		  .text = "Of a database only these epochs: a number, a label, last, "   \
			  "or -1 for the newest of each host, -2 for the one before; "   \
			  "or a range like 3..7 or -4..last" },                          \
		{ .name = "image",                                                       \
		  .kind = OPTION_STRING,                                                 \
		  .arg = "NAME",                                                         \
		  .text = "Of a database only samples taken in the image of that path "  \
			  "or file name; nothing else is read" },                        \
	{                                                                                \
		.name = "label", .kind = OPTION_STRING, .arg = "LABEL",                  \
		.text = "Of a database only epochs of that label"                        \
	}

struct database_options {
	struct database_query query;
	const char **hosts, **epochs;
};

/* From the options; path NULL: --db.  ret->query.path is NULL when there is neither. */
must_use int database_options_take(const struct options *o, const char *path,
				   struct database_options *ret, struct err *e);
void database_options_fini(struct database_options *d);
/* The options as they were given, for a command that asks the same again: "" or
 * " --since -2h …". */
void database_options_say(const struct options *o, bool has_db, struct buf *to);
/* What the user should know of the answer, to stderr: a range that cuts segments, and
 * what is damaged. */
void database_options_tell_range(const struct database_answer *a);
void database_options_tell_damage(const struct database_answer *a);

#endif
