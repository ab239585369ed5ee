/* SPDX-License-Identifier: Apache-2.0
 *
 * row_stream - samples, sorted by event and by the image of their innermost frame, as
 * blocks of a recording that the index tells apart by these.
 *
 * Set the writer, release with row_stream_fini().
 */
#ifndef DWELL_STORE_ROW_STREAM_H
#define DWELL_STORE_ROW_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/model.h"

struct writer;

struct row_stream {
	struct writer *writer;
	/* Of one event, not yet written from `next` on. */
	VEC(struct model_sample) rows;
	VEC(uint32_t) images;
	size_t next;
};

void row_stream_fini(struct row_stream *s);
/* image MODEL_NONE: there is no frame. */
must_use int row_stream_add(struct row_stream *s, const struct model_sample *row,
			    uint32_t image, struct err *e);
/* All are written. */
must_use int row_stream_end(struct row_stream *s, struct err *e);

#endif
