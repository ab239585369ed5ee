/* SPDX-License-Identifier: Apache-2.0
 *
 * block_source - reads and verifies single blocks of a recording with pread.
 *
 * Never maps the file: one that shrinks while it is read is an error, not a signal.
 * Immutable once open, unless it is followed; may be used from several threads.
 */
#ifndef DWELL_STORE_BLOCK_SOURCE_H
#define DWELL_STORE_BLOCK_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "base/reader.h"
#include "store/block_header.h"

struct block_source {
	int fd;
	char *path;
	uint64_t size; /* when opened, or followed last */
	bool has_whole_header;
	uint64_t inner_from; /* blocks from there on are inside another; 0: none are */
};

/* Opens a regular file that begins like a recording. */
must_use int block_source_open(struct block_source *s, const char *path, struct err *e);
/* Learns how long a file is now that is still written. */
must_use int block_source_follow(struct block_source *s, struct err *e);
void block_source_fini(struct block_source *s);
/* Exactly n bytes. */
must_use int block_source_bytes(const struct block_source *s, uint64_t off, void *out,
				size_t n, struct err *e);
/* ERR_FORMAT when there is no intact header at off. */
must_use int block_source_header(const struct block_source *s, uint64_t off,
				 struct block_header *ret, struct err *e);
/* The payload of the block of that kind at off, verified and unpacked. */
must_use int block_source_payload(const struct block_source *s, uint64_t off,
				  unsigned kind, struct buf *payload, struct buf *scratch,
				  struct reader *ret, struct err *e);
/* The next offset from off on with an intact header, within FORMAT_RESYNC_MAX bytes of
 * data; s->size when there is none. */
must_use int block_source_find(const struct block_source *s, uint64_t off, uint64_t *ret,
			       struct err *e);

#endif
