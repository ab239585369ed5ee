/* SPDX-License-Identifier: Apache-2.0 */
#include "store/interim.h"

#include <string.h>

#include "base/reader.h"
#include "store/format.h"

#define N_FIELDS   4
#define HEAD_BYTES (N_FIELDS * 8)

size_t interim_head_bytes(void)
{
	return 1 + HEAD_BYTES;
}

void interim_begin(struct buf *payload)
{
	buf_clear(payload);
	buf_uleb(payload, HEAD_BYTES);
	memset(buf_reserve(payload, HEAD_BYTES), 0, HEAD_BYTES);
	payload->size += HEAD_BYTES;
}

void interim_put(struct buf *payload, const struct interim *x)
{
	const uint64_t fields[N_FIELDS] = { x->generation, x->time_ns, x->next_ns,
					    x->until };

	for (size_t i = 0; i < sizeof(fields); i++)
		payload->data[1 + i] = (uint8_t)(fields[i / 8] >> i % 8 * 8);
}

static bool read_head(struct reader r, struct interim *ret)
{
	size_t size = reader_count(&r, 1);
	const uint8_t *bytes = reader_bytes(&r, size);
	struct reader head = reader_over(bytes, size);

	ret->generation = reader_u64le(&head);
	ret->time_ns = reader_u64le(&head);
	ret->next_ns = reader_u64le(&head);
	ret->until = reader_u64le(&head);
	ret->from = ret->end - reader_left(&r);
	return !r.bad && !head.bad;
}

/* One that is not whole is none: its recorder was killed while it was written, or
 * something else has been since. */
static int look_at(const struct block_source *s, uint64_t off, uint64_t end,
		   struct buf *payload, struct buf *scratch, struct interim *best,
		   struct err *e)
{
	struct interim x = { .end = end };
	struct reader r;
	struct err why = { 0 };
	int rc = block_source_payload(s, off, FORMAT_INTERIM, payload, scratch, &r, &why);

	if (rc == ERR_OS && e)
		*e = why;
	if (rc < 0)
		return rc == ERR_OS ? rc : 0;
	if (read_head(r, &x) && x.generation > best->generation)
		*best = x;
	return 0;
}

/* One with an intact header inside was overwritten in part: of those that are left
 * none overlap, so however many remains there are, they are read once. */
int interim_find(const struct block_source *s, uint64_t off, struct interim *ret,
		 struct err *e)
{
	own(buf_fini) struct buf payload = { 0 };
	own(buf_fini) struct buf scratch = { 0 };
	struct interim best = { 0 };
	uint64_t at = 0, end = 0; /* of the one before; 0: it is none */
	int rc = block_source_find(s, off, &off, e);

	while (rc == 0 && off < s->size) {
		struct block_header h;

		rc = block_source_header(s, off, &h, e);
		if (rc == 0 && end && end <= off)
			rc = look_at(s, at, end, &payload, &scratch, &best, e);
		if (rc < 0)
			break;
		at = off;
		/* What is inside others is stored as it is. */
		end = h.kind == FORMAT_INTERIM && !h.flags
			      ? off + BLOCK_HEADER_BYTES + h.stored_size
			      : 0;
		rc = block_source_find(s, off + 1, &off, e);
	}
	if (rc == 0 && end)
		rc = look_at(s, at, end, &payload, &scratch, &best, e);
	/* What is written just now changes under us. */
	if (rc == ERR_FORMAT)
		rc = 0;
	if (rc == 0)
		*ret = best;
	return rc;
}
