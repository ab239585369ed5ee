/* SPDX-License-Identifier: Apache-2.0 */
#include "store/row_stream.h"

#include <string.h>

#include "store/block_cut.h"
#include "store/writer_data.h"

_Static_assert(BLOCK_CUT_MAX <= SAMPLE_BATCH_MAX, "a block is a batch");

void row_stream_fini(struct row_stream *s)
{
	vec_fini(&s->rows);
	vec_fini(&s->images);
}

static int write_block(struct row_stream *s, struct err *e)
{
	struct sample_batch *batch = &s->writer->samples;
	const uint32_t *images = s->images.at + s->next;
	size_t n = block_cut(images, s->rows.n - s->next);

	batch->of_event = s->rows.at[s->next].event + 1;
	batch->first_image = images[0] + 1; /* of none: 0 */
	batch->last_image = images[n - 1] + 1;
	for (size_t i = 0; i < n; i++)
		*vec_push(&batch->rows) = s->rows.at[s->next + i];
	s->next += n;
	return writer_append_samples(s->writer, e);
}

static void drop_written(struct row_stream *s)
{
	size_t n = s->rows.n - s->next;

	memmove(s->rows.at, s->rows.at + s->next, n * sizeof(*s->rows.at));
	memmove(s->images.at, s->images.at + s->next, n * sizeof(*s->images.at));
	s->rows.n = s->images.n = n;
	s->next = 0;
}

int row_stream_end(struct row_stream *s, struct err *e)
{
	int rc = 0;

	while (s->next < s->rows.n && rc == 0)
		rc = write_block(s, e);
	vec_clear(&s->rows);
	vec_clear(&s->images);
	s->next = 0;
	return rc;
}

int row_stream_add(struct row_stream *s, const struct model_sample *row, uint32_t image,
		   struct err *e)
{
	int rc = 0;

	if (s->rows.n && s->rows.at[0].event != row->event)
		rc = row_stream_end(s, e);
	*vec_push(&s->rows) = *row;
	*vec_push(&s->images) = image;
	/* Where a block ends is known when so many are there. */
	if (s->rows.n < 2 * BLOCK_CUT_MAX)
		return rc;
	while (s->rows.n - s->next >= BLOCK_CUT_MAX && rc == 0)
		rc = write_block(s, e);
	drop_written(s);
	return rc;
}
