/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sums_mark.h"

#include "base/reader.h"
#include "store/format.h"

void sums_mark_encode(const struct sums_mark *m, struct buf *payload)
{
	buf_clear(payload);
	buf_uleb(payload, m->number);
	buf_uleb(payload, m->is_end);
}

int sums_mark_read(const struct block_source *s, uint64_t off, bool *ret_is_whole,
		   struct sums_mark *ret, struct err *e)
{
	own(buf_fini) struct buf payload = { 0 };
	own(buf_fini) struct buf scratch = { 0 };
	struct err why = { 0 };
	struct reader r;
	int rc = block_source_payload(s, off, FORMAT_SUMS_MARK, &payload, &scratch, &r,
				      &why);

	*ret_is_whole = false;
	if (rc == ERR_OS && e)
		*e = why;
	if (rc < 0)
		return rc == ERR_OS ? rc : 0;
	ret->number = reader_uleb(&r);
	ret->is_end = reader_uleb(&r) != 0;
	*ret_is_whole = !r.bad;
	return 0;
}

void sums_marks_fini(struct sums_marks *x)
{
	map_fini(&x->told);
}

/* Who begins to tell is taken to have told all, unless nothing but that is behind. */
static void take(struct sums_marks *x, const struct sums_mark *m, uint64_t off)
{
	if (x->torn_off && (m->number != x->number || !m->is_end))
		map_slot(&x->told, x->number, NULL);
	x->torn_off = m->is_end ? 0 : off;
	x->number = m->number;
	if (m->is_end)
		map_slot(&x->told, m->number, NULL);
}

int sums_marks_read(struct sums_marks *x, const struct block_source *s,
		    const struct block_list *l, struct err *e)
{
	for (size_t i = 0; i < l->blocks.n; i++) {
		const struct format_entry *b = &l->blocks.at[i];
		struct sums_mark m = { 0 };
		bool is_whole = false;
		int rc = 0;

		if (b->kind != FORMAT_SUMS_MARK)
			continue;
		rc = sums_mark_read(s, b->offset, &is_whole, &m, e);
		if (rc < 0)
			return rc;
		/* A damaged one is most likely the end of what began. */
		if (!is_whole)
			m = (struct sums_mark){ x->number, x->torn_off != 0 };
		if (is_whole || x->torn_off)
			take(x, &m, b->offset);
	}
	return 0;
}
