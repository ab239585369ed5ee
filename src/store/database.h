/* SPDX-License-Identifier: Apache-2.0
 *
 * database - what a database of epochs holds, as one look into its directories shows.
 *
 *	DATABASE/HOST/EPOCH/MANIFEST
 *	DATABASE/HOST/EPOCH/FROM-TO.NUMBER.dwell
 *
 * Never locks and never writes: a daemon may be at work, other machines may share the
 * directory.  Temporary and foreign files are passed over; a segment that a merged one
 * replaces is not listed.  Segments are opened by who wants their samples; one that is
 * gone by then was merged meanwhile: look again.
 */
#ifndef DWELL_STORE_DATABASE_H
#define DWELL_STORE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/manifest.h"
#include "store/segment_name.h"

#define DATABASE_LOCK_FILE "lock"
#define DATABASE_SYMBOLS   "symbols" /* of a host: a directory for debuggers */

struct database_segment {
	char *path;
	struct segment_name name;
	uint64_t bytes;
	size_t epoch; /* index */
};

struct database_epoch {
	char *path;
	const char *host; /* name of its directory */
	uint32_t number;
	struct manifest manifest;
	bool has_manifest; /* else what is wrong with it: */
	char problem[200];
	size_t first_segment, n_segments; /* sorted by number */
	int64_t from_s, to_s;		  /* of its segments, else of the manifest */
	uint64_t bytes;
};

struct database {
	char *path;
	VEC(struct database_epoch) epochs;     /* by host, then number */
	VEC(struct database_segment) segments; /* by epoch, then number */
	VEC(char *) hosts;		       /* sorted */
	VEC(char *) leftovers; /* what is merged already, or was never finished */
	size_t n_foreign;      /* files that are nobody's here */
};

must_use int database_open(const char *path, struct database **ret, struct err *e);
/* Only what one host wrote. */
must_use int database_open_host(const char *path, const char *host, struct database **ret,
				struct err *e);
void database_free(struct database *d);
void database_freep(struct database **d);

/* The name of a host's directory: its name without what a path cannot have. */
char *database_host_name(const char *host);
uint64_t database_bytes(const struct database *d);

#endif
