/* SPDX-License-Identifier: Apache-2.0
 *
 * report_database - parts of databases among the recordings of a report.
 *
 * --db, and operands that are directories: a database, a host's part or an epoch.  Each
 * is read as one recording.
 */
#ifndef DWELL_CMD_REPORT_DATABASE_H
#define DWELL_CMD_REPORT_DATABASE_H

#include "cmd/report_profile.h"

struct report_database {
	struct database_answer *answers; /* by recording; path NULL: it is a file */
	char **said;			 /* the words for it in a command, or NULL */
	char **damage;			 /* a line about it, or NULL */
	char **epochs;			 /* directories, when each is a recording */
	char **symbol_dirs;		 /* of its hosts, NULL-terminated */
	size_t n;
};

/* Each epoch that the options choose of --db becomes a recording: d->epochs.  Before
 * report_database_open(), which then takes these as files. */
must_use int report_database_split(struct report_database *d, const struct options *o,
				   size_t *ret_n, struct err *e);

/* files: the operands.  Sets d and the paths that are in databases. */
must_use int report_database_open(struct report_database *d, const struct options *o,
				  const char **paths, size_t n_paths, struct err *e);
void report_database_fini(struct report_database *d);
/* Names instead of the paths of temporary files, which are open by now. */
void report_database_name(const struct report_database *d, const char **paths);

#endif
