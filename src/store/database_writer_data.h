/* SPDX-License-Identifier: Apache-2.0
 *
 * database_writer_data - the inside of a database's writer, shared by its parts.
 *
 * database_writer.c adds segments and epochs, database_merge.c merges and removes them.
 */
#ifndef DWELL_STORE_DATABASE_WRITER_DATA_H
#define DWELL_STORE_DATABASE_WRITER_DATA_H

#include "base/vec.h"
#include "store/database_writer.h"
#include "store/segment_name.h"

struct database;

struct database_writer {
	char *path, *host, *directory;
	int lock;
	struct manifest manifest; /* of the newest epoch */
	uint32_t newest, next_segment;
	bool is_open;	     /* the newest epoch has not ended */
	bool has_epoch;	     /* and is being written to */
	VEC(char *) damaged; /* segments that no merge touches */
};

/* What the host wrote so far; leftovers are removed. */
must_use int database_writer_look(struct database_writer *w, struct database **ret,
				  struct err *e);
struct tally_merge;

/* A segment of that name, durably, of what was merged. */
must_use int database_writer_merged(struct database_writer *w, uint32_t epoch,
				    struct tally_merge *merge,
				    const struct segment_name *name, int level,
				    struct err *e);

#endif
