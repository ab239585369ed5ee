/* SPDX-License-Identifier: Apache-2.0
 *
 * sums_mark - tells whose sums blocks are, so that those of interim sums give way to the
 * last ones of the same origin: by a number of who is summed up.
 *
 * Inside of interim sums a mark is before the blocks of each.  In the chain of a
 * recording there is one before the last sums of an origin, and one when they are all
 * there; nothing else is in between (docs/format.md).
 */
#ifndef DWELL_STORE_SUMS_MARK_H
#define DWELL_STORE_SUMS_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/own.h"
#include "store/block_list.h"
#include "store/block_source.h"

struct sums_mark {
	uint64_t number;
	bool is_end;
};

void sums_mark_encode(const struct sums_mark *m, struct buf *payload);
/* False: there is no whole one at off. */
must_use int sums_mark_read(const struct block_source *s, uint64_t off,
			    bool *ret_is_whole, struct sums_mark *ret, struct err *e);

/* What the chain has of last sums. */
struct sums_marks {
	struct map told; /* their numbers; also of those that are damaged */
	/* Where the recorder was killed in the midst of them: whose, and the offset of
	 * the mark before; 0: it was not. */
	uint64_t number, torn_off;
};

void sums_marks_fini(struct sums_marks *x);
/* An error is the system's. */
must_use int sums_marks_read(struct sums_marks *x, const struct block_source *s,
			     const struct block_list *l, struct err *e);

#endif
