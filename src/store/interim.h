/* SPDX-License-Identifier: Apache-2.0
 *
 * interim - sums that a recorder has not written yet, as they were at one moment: what a
 * recording falls back on whose recorder was killed.
 *
 * One is a block behind those of the recording, with whole blocks inside, of facts,
 * samples and trace events.  The next one is written elsewhere before it is gone, and
 * when the recording ends there is none (docs/format.md).
 */
#ifndef DWELL_STORE_INTERIM_H
#define DWELL_STORE_INTERIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "store/block_source.h"

/* So far behind the recording's own blocks is the first one at least. */
#define INTERIM_GAP_BYTES (UINT64_C(256) << 10)

struct interim {
	uint64_t generation; /* the highest one counts; 0: there is none */
	uint64_t time_ns;    /* that the sums are of */
	uint64_t next_ns;    /* when the next was to be written */
	/* Blocks of the recording from there on say what these sums say already; 0: marks
	 * tell (sums_mark.h).  Not written any more. */
	uint64_t until;
	uint64_t from, end; /* the blocks inside, in the file; of a reader */
};

/* Begins a payload; blocks inside come next. */
void interim_begin(struct buf *payload);
/* Fills in what it began with. */
void interim_put(struct buf *payload, const struct interim *x);
/* How many bytes of it are before the blocks inside. */
size_t interim_head_bytes(void);
/* The newest whole one that begins between off and the end of the file.  An error is the
 * system's. */
must_use int interim_find(const struct block_source *s, uint64_t off, struct interim *ret,
			  struct err *e);

#endif
