/* SPDX-License-Identifier: Apache-2.0
 *
 * column_set - rows stored by columns: the payload of every columnar block.
 *
 * A head record (row count, time range or first id, and how many entries of each
 * dictionary the rows refer to), then columns, each with an id and a length, so that a
 * reader decodes only those it wants and skips those it does not know.
 */
#ifndef DWELL_STORE_COLUMN_SET_H
#define DWELL_STORE_COLUMN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/reader.h"
#include "store/column_codec.h"
#include "store/format.h"

struct column_set_head {
	struct format_summary summary;
	/* The rows name no id of that dictionary at or above this. */
	uint32_t n_events, n_threads, n_stacks, n_locations, n_images, n_trace_types;
};

struct column_set {
	struct column_set_head head;
	struct reader more; /* what the head says behind that */
	struct reader columns;
};

void column_set_begin(struct buf *out, const struct column_set_head *head);
/* The same, with more to say at the end of the head. */
void column_set_begin_with(struct buf *out, const struct column_set_head *head,
			   const struct buf *more);
void column_set_add(struct buf *out, unsigned id, const uint64_t *values, size_t n,
		    struct squeeze *squeeze);

/* False: this is no such payload.  Borrows it. */
bool column_set_parse(const uint8_t *payload, size_t size, struct column_set *ret);
/* The rows refer only to what is known (counts by enum format_kind). */
bool column_set_is_known(const struct column_set *s, const uint32_t n[FORMAT_N_KINDS]);
bool column_set_has(const struct column_set *s, unsigned id);
/* Column `id` into out; absent: `absent` in every row.  False: malformed. */
bool column_set_u32(const struct column_set *s, unsigned id, uint32_t absent,
		    uint32_t *out, struct buf *scratch);
bool column_set_u64(const struct column_set *s, unsigned id, uint64_t absent,
		    uint64_t *out, struct buf *scratch);

#endif
