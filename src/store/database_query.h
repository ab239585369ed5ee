/* SPDX-License-Identifier: Apache-2.0
 *
 * database_query - a part of a database as one recording.
 *
 * Whoever reads recordings reads this: one segment as it is, several merged into a
 * temporary file that goes with the answer.  A segment that lies partly in the range is
 * taken whole and counted.
 */
#ifndef DWELL_STORE_DATABASE_QUERY_H
#define DWELL_STORE_DATABASE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/database.h"
#include "store/recording.h"
#include "store/tally.h"

struct database_query {
	const char *path;	  /* of the database, of a host's part or of an epoch */
	int64_t since_s, until_s; /* 0: no limit */
	/* NULL or NULL-terminated: any of them. */
	const char *const *hosts;   /* names */
	const char *const *epochs;  /* epoch_word.h */
	const char *label;	    /* of the epoch, or NULL */
	struct recording_part part; /* of each segment */
};

struct database_answer {
	struct database *database;
	size_t *chosen, n_chosen;	/* segments of the database */
	size_t n_cut;			/* of these, segments that are partly outside */
	int64_t from_s, to_s;		/* of the chosen */
	uint64_t n_bytes, n_read_bytes; /* of the chosen; of what was read of them */
	char *path;			/* of the recording; NULL until loaded */
	char *name;			/* what it is called: "ant 0003" */
	int fd;				/* of the temporary recording, else -1 */
	VEC(char *) problems;		/* one line for each damaged thing */
};

/* Which segments; an error that tells what there is when nothing is chosen. */
must_use int database_query_choose(const struct database_query *q,
				   struct database_answer *ret, struct err *e);
/* Everything chosen added to a tally. */
must_use int database_query_tally(const struct database_query *q, struct tally *t,
				  struct database_answer *ret, struct err *e);
/* As a recording: ret->path. */
must_use int database_query_load(const struct database_query *q,
				 struct database_answer *ret, struct err *e);
void database_answer_fini(struct database_answer *a);

#endif
