/* SPDX-License-Identifier: Apache-2.0
 *
 * database_writer - writes one host's part of a database.
 *
 * One writer per host: a second one is refused with the first one's pid.  The lock goes
 * with its holder, however that ends.  Whatever moment the writer is killed at or the
 * power fails, each segment is there as a whole or not at all, and counted once.
 *
 *	database_writer_open, _continue or _begin, then again and again _add and now and
 *	then _merge and _retain; _begin or _end, _close.
 *
 * One thread.  Another process may be given the lock's descriptor and write instead
 * (_open_locked) while this one leaves the database alone.
 */
#ifndef DWELL_STORE_DATABASE_WRITER_H
#define DWELL_STORE_DATABASE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/manifest.h"
#include "store/tally.h"

struct database_writer;

/* Makes the directories; removes what a killed writer left half done. */
must_use int database_writer_open(const char *path, const char *host,
				  struct database_writer **ret, struct err *e);
/* The same in another process of the one that holds the lock, whose descriptor it got. */
must_use int database_writer_open_locked(const char *path, const char *host, int lock,
					 struct database_writer **ret, struct err *e);
void database_writer_close(struct database_writer *w);
void database_writer_closep(struct database_writer **w);

/* Goes on with the newest epoch.  False: it has ended, or there is none. */
bool database_writer_continue(struct database_writer *w);
/* Ends the epoch that goes on, if one does, and begins the next one; of m only label,
 * clock, period and start matter, the rest is filled in. */
must_use int database_writer_begin(struct database_writer *w, const struct manifest *m,
				   struct err *e);
must_use int database_writer_end(struct database_writer *w, int64_t now_s, struct err *e);
must_use int database_writer_label(struct database_writer *w, const char *label,
				   struct err *e);
/* The epoch that is written, or NULL. */
const struct manifest *database_writer_epoch(const struct database_writer *w);
const char *database_writer_directory(const struct database_writer *w); /* of the host */
int database_writer_lock(const struct database_writer *w); /* descriptor, borrowed */

/* Info of a tally that was made of one recording: a name that no other one has. */
#define DATABASE_WRITER_RECORDING "recording"

/* What was counted from one moment to the other becomes a segment, on the disk when this
 * returns.  On failure nothing of it is there; the tally is as it was but for its info.
 * A recording that the newest segment was made of is there already: nothing is added.
 */
must_use int database_writer_add(struct database_writer *w, struct tally *t,
				 int64_t from_s, int64_t to_s, struct err *e);

/* How segments are merged: whole hours as soon as they have passed, and an epoch once it
 * has ended. */
struct database_merge {
	int64_t hour_s;	    /* 0: 3600 */
	uint64_t max_bytes; /* of what is merged at once; 0: 8 MiB */
	int level;	    /* of zstd, 0: 9 */
};

/* One merge that is due, the oldest first; *ret_did is false when there is none.  What
 * is damaged stays as it is. */
must_use int database_writer_merge(struct database_writer *w,
				   const struct database_merge *m, int64_t now_s,
				   bool *ret_did, struct err *e);

struct database_retention {
	int64_t max_age_s;  /* 0: for ever */
	uint64_t max_bytes; /* of this host; 0: any */
};

/* Removes segments that ended longer ago than max_age_s, and then the oldest until the
 * rest is no more than max_bytes; never the newest. */
must_use int database_writer_retain(struct database_writer *w,
				    const struct database_retention *r, int64_t now_s,
				    uint64_t *ret_n_removed, struct err *e);

#endif
