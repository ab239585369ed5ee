/* SPDX-License-Identifier: Apache-2.0
 *
 * block_sink - appends whole blocks to a file and remembers where they are.
 *
 * One write per block; when it fails the file is cut back to the last whole block, so
 * that what was there stays readable.  Further behind them interim sums may be.  Owns the
 * descriptor.
 */
#ifndef DWELL_STORE_BLOCK_SINK_H
#define DWELL_STORE_BLOCK_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/format.h"
#include "store/growing_file.h"
#include "store/squeeze.h"

/* What is behind the blocks, until it is replaced (interim.h). */
struct block_sink_interim {
	uint64_t at, size;  /* in the file, its header included; size 0: there is none */
	uint64_t max_bytes; /* beyond which it is not placed; 0: anywhere */
	struct buf payload;
};

struct block_sink {
	struct growing_file file;
	struct block_sink_interim interim;
	struct buf out;
	struct squeeze squeeze;
	VEC(struct format_entry) entries;
};

/* A new file of mode 0600 with its header.  What exists is replaced only when it is a
 * recording or empty. */
must_use int block_sink_create(struct block_sink *s, const char *path, struct err *e);
/* The same of a patient file (growing_file.h): it does not fail, and replaces nothing. */
void block_sink_create_patient(struct block_sink *s, const char *path);
/* Goes on behind the last of these blocks; what is behind it is cut off. */
must_use int block_sink_continue(struct block_sink *s, const char *path,
				 const struct format_entry *blocks, size_t n,
				 struct err *e);
void block_sink_fini(struct block_sink *s);
/* summary NULL: none.  is_dense: its parts are compressed already. */
must_use int block_sink_append(struct block_sink *s, enum format_kind kind,
			       const struct buf *payload,
			       const struct format_summary *summary, bool is_dense,
			       struct err *e);
/* A block inside of another, whose payload's blocks begin at its byte from. */
must_use int block_sink_nest(struct block_sink *s, struct buf *out, size_t from,
			     enum format_kind kind, const struct buf *payload,
			     struct err *e);
/* Replaces what is behind the blocks; after a failure it is as it was.  It gives way to
 * blocks, and is gone where there is not room for both, of the file system or max_bytes.
 */
must_use int block_sink_put_interim(struct block_sink *s, const struct buf *payload,
				    uint64_t max_bytes, struct err *e);
void block_sink_drop_interim(struct block_sink *s);
/* The closing index and the end block. */
must_use int block_sink_finish(struct block_sink *s, struct err *e);

#endif
