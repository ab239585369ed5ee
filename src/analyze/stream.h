/* SPDX-License-Identifier: Apache-2.0
 *
 * stream - the samples of a recording that pass the filter, block by block.
 *
 * The next block is decoded on a second thread while the caller works on this one.
 * Blocks outside the filter's time range are not read at all; a block that cannot be
 * read is counted in the source and skipped.
 */
#ifndef DWELL_ANALYZE_STREAM_H
#define DWELL_ANALYZE_STREAM_H

#include <stdint.h>

#include "analyze/filter.h"
#include "analyze/input.h"

/* keep[i] tells whether sample i passes; NULL: all do.  Any result but 0 ends the stream
 * and is its result. */
typedef int stream_fn(void *ctx, const struct sample_block *block, const uint8_t *keep,
		      struct err *e);

must_use int stream_samples(struct input *s, const struct filter_binding *filter,
			    unsigned columns, stream_fn *fn, void *ctx, struct err *e);

#endif
