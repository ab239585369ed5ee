/* SPDX-License-Identifier: Apache-2.0 */
#include "store/block_list.h"

#include <inttypes.h>

#include "store/format.h"

#define END_BYTES (BLOCK_HEADER_BYTES + 8) /* the last block: the index' offset */

void block_list_fini(struct block_list *l)
{
	vec_fini(&l->blocks);
}

/* The offset of the index (0: there is none), or an error: the file has no end block. */
static int read_end(const struct block_source *s, uint64_t *ret)
{
	struct buf stored = { 0 }, raw = { 0 };
	struct reader r;

	if (s->size < FORMAT_HEADER_BYTES + END_BYTES)
		return ERR_FORMAT;

	int rc = block_source_payload(s, s->size - END_BYTES, FORMAT_END, &stored, &raw,
				      &r, NULL);

	if (rc == 0) {
		*ret = reader_u64le(&r);
		rc = r.bad ? ERR_FORMAT : 0;
	}
	buf_fini(&stored);
	buf_fini(&raw);
	return rc;
}

static bool read_entry(struct reader *r, uint64_t *end, struct format_entry *ret)
{
	size_t size = reader_count(r, 1);
	const uint8_t *bytes = reader_bytes(r, size);
	struct reader entry = reader_over(bytes, size);
	uint64_t kind = reader_uleb(&entry);

	ret->kind = (uint32_t)kind;
	ret->offset = reader_uleb(&entry);

	uint64_t stored_size = reader_uleb(&entry);

	ret->stored_size = (uint32_t)stored_size;
	ret->summary.n = reader_uleb(&entry);
	ret->summary.from_ns = reader_uleb(&entry);
	ret->summary.to_ns = reader_uleb(&entry);
	if (reader_left(&entry)) {
		ret->summary.event = (uint32_t)reader_uleb(&entry);
		ret->summary.first_image = (uint32_t)reader_uleb(&entry);
		ret->summary.last_image = (uint32_t)reader_uleb(&entry);
	}
	/* Without gaps: an index that leaves out blocks is a wrong one. */
	if (r->bad || entry.bad || kind > UINT16_MAX || ret->offset != *end ||
	    stored_size > FORMAT_BLOCK_MAX)
		return false;
	*end = ret->offset + BLOCK_HEADER_BYTES + stored_size;
	return true;
}

static bool read_index(struct block_list *l, const struct block_source *s,
		       uint64_t index_off)
{
	own(buf_fini) struct buf stored = { 0 };
	own(buf_fini) struct buf raw = { 0 };
	uint64_t end = FORMAT_HEADER_BYTES;
	struct format_entry place = { 0 };
	struct reader r;
	bool is_good = true;

	if (index_off > s->size ||
	    block_source_payload(s, index_off, FORMAT_INDEX, &stored, &raw, &r, NULL) < 0)
		return false;
	while (reader_left(&r) && is_good) {
		is_good = read_entry(&r, &end, &place) && end <= index_off;
		*vec_push(&l->blocks) = place;
	}
	is_good = is_good && end == index_off;
	if (!is_good)
		vec_clear(&l->blocks);
	return is_good;
}

/* The index does not list itself and the end block. */
static void add_closing(struct block_list *l, const struct block_source *s,
			uint64_t index_off)
{
	uint64_t end_off = s->size - END_BYTES;

	*vec_push(&l->blocks) = (struct format_entry){ index_off,
						       (uint32_t)(end_off - index_off -
								  BLOCK_HEADER_BYTES),
						       FORMAT_INDEX,
						       { 0 } };
	*vec_push(&l->blocks) = (struct format_entry){
		end_off, END_BYTES - BLOCK_HEADER_BYTES, FORMAT_END, { 0 }
	};
}

static bool is_interim(const struct block_source *s, uint64_t off)
{
	struct block_header h;

	return block_source_header(s, off, &h, NULL) == 0 && h.kind == FORMAT_INTERIM;
}

/* What follows off cannot be understood: go on at the next intact header, unless there
 * is nothing but what is written again and again, or just now. */
static int resync(struct block_list *l, const struct block_source *s,
		  struct damage *damage, uint64_t *off, bool *ret_is_end, struct err *e)
{
	uint64_t next;
	int rc = block_source_find(s, *off + 1, &next, e);

	if (rc < 0)
		return rc;
	l->has_interim = is_interim(s, next);
	*ret_is_end = l->has_interim || (l->is_growing && next == s->size);
	if (*ret_is_end)
		return 0;
	damage_note(damage,
		    "damaged at byte %" PRIu64 ": %" PRIu64 " bytes make no sense", *off,
		    next - *off);
	*off = next;
	return 0;
}

void block_list_cut(struct block_list *l, uint64_t off)
{
	while (l->blocks.n && l->blocks.at[l->blocks.n - 1].offset >= off)
		l->blocks.n--;
	if (off < l->whole_bytes)
		l->whole_bytes = off;
}

/* The last block was written in part when something else was behind it already. */
static int drop_torn(struct block_list *l, const struct block_source *s, struct err *e)
{
	own(buf_fini) struct buf payload = { 0 };
	own(buf_fini) struct buf scratch = { 0 };
	const struct format_entry *last = &l->blocks.at[l->blocks.n - 1];
	struct err why = { 0 };
	struct reader r;
	int rc = block_source_payload(s, last->offset, last->kind, &payload, &scratch, &r,
				      &why);

	if (rc == ERR_FORMAT)
		block_list_cut(l, last->offset);
	if (rc == ERR_OS && e)
		*e = why;
	return rc == ERR_OS ? rc : 0;
}

static int scan(struct block_list *l, const struct block_source *s, uint64_t off,
		struct damage *damage, struct err *e)
{
	struct block_header h;
	bool is_end = false;

	l->has_interim = false;
	l->whole_bytes = off < s->size ? off : s->size;
	while (!is_end && s->size - l->whole_bytes >= BLOCK_HEADER_BYTES &&
	       off < s->size) {
		if (s->size - off < BLOCK_HEADER_BYTES)
			break; /* cut inside a header */

		int rc = block_source_header(s, off, &h, e);

		if (rc == 0 && h.kind == FORMAT_INTERIM)
			l->has_interim = is_end = true;
		else if (rc == ERR_FORMAT)
			rc = resync(l, s, damage, &off, &is_end, e);
		else if (rc == 0 && h.stored_size > s->size - off - BLOCK_HEADER_BYTES)
			break; /* cut inside a payload */
		else if (rc == 0) {
			*vec_push(&l->blocks) = (struct format_entry){
				off, h.stored_size, h.kind, { 0 }
			};
			off += BLOCK_HEADER_BYTES + h.stored_size;
			l->whole_bytes = off;
		}
		if (rc < 0)
			return rc;
	}
	return l->has_interim && l->blocks.n ? drop_torn(l, s, e) : 0;
}

int block_list_read(struct block_list *l, const struct block_source *s,
		    struct damage *damage, struct err *e)
{
	uint64_t index_off = 0;

	l->is_closed = read_end(s, &index_off) == 0;
	if (l->is_closed && index_off && read_index(l, s, index_off)) {
		add_closing(l, s, index_off);
		l->whole_bytes = s->size;
		return 0;
	}
	if (l->is_closed && index_off)
		damage_note(damage, "damaged at byte %" PRIu64 ": the index", index_off);
	return scan(l, s, FORMAT_HEADER_BYTES, damage, e);
}

int block_list_follow(struct block_list *l, const struct block_source *s,
		      struct damage *damage, struct err *e)
{
	uint64_t from = l->whole_bytes;
	int rc;

	if (from < FORMAT_HEADER_BYTES)
		from = FORMAT_HEADER_BYTES;
	if (s->size <= from)
		return 0;
	rc = scan(l, s, from, damage, e);
	if (rc == 0 && l->blocks.n)
		l->is_closed = l->blocks.at[l->blocks.n - 1].kind == FORMAT_END;
	return rc;
}
