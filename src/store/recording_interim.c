/* SPDX-License-Identifier: Apache-2.0 */
#include "store/recording_data.h"

#include <stdlib.h>

/* Calls take() with each block inside, and whose it is: 0 nobody's. */
typedef int take_fn(struct recording *r, const struct format_entry *b, uint64_t number,
		    struct err *e);

static int each_inside(struct recording *r, take_fn *take, struct err *e)
{
	uint64_t off = r->interim.from, end = r->interim.end;
	struct sums_mark mark = { 0 };
	struct block_header h;
	bool is_whole;
	int rc = 0;

	r->source.inner_from = off;
	while (rc == 0 && off < end && block_source_header(&r->source, off, &h, e) == 0) {
		const struct format_entry b = { off, h.stored_size, h.kind, { 0 } };

		off += BLOCK_HEADER_BYTES + h.stored_size;
		if (off > end)
			break;
		if (h.kind == FORMAT_SUMS_MARK)
			rc = sums_mark_read(&r->source, b.offset, &is_whole, &mark, e);
		else if (recording_wants(h.kind))
			rc = take(r, &b, mark.number, e);
	}
	return rc;
}

/* Of last sums some of which are missing there are interim ones. */
static int cut_torn(struct recording *r, unused const struct format_entry *b,
		    uint64_t number, unused struct err *e)
{
	if (r->marks.torn_off && number == r->marks.number)
		block_list_cut(&r->list, r->marks.torn_off);
	return 0;
}

/* What the chain has of their origins is the last word, if it is whole.  Behind damage
 * nobody knows what is missing. */
static int find_marks(struct recording *r, struct err *e)
{
	int rc = sums_marks_read(&r->marks, &r->source, &r->list, e);

	if (rc == 0 && r->marks.torn_off && r->damage.n_findings) {
		map_slot(&r->marks.told, r->marks.number, NULL);
		r->marks.torn_off = 0;
	}
	if (rc == 0 && r->marks.torn_off)
		rc = each_inside(r, cut_torn, e);
	r->source.inner_from = 0;
	return rc;
}

int recording_find_interim(struct recording *r, struct err *e)
{
	int rc = interim_find(&r->source, r->list.whole_bytes, &r->interim, e);

	if (rc == 0 && r->interim.generation && r->interim.until)
		block_list_cut(&r->list, r->interim.until);
	if (rc == 0 && r->interim.generation)
		rc = find_marks(r, e);
	return rc;
}

static int load_untold(struct recording *r, const struct format_entry *b, uint64_t number,
		       struct err *e)
{
	if (map_find(&r->marks.told, number))
		return 0;
	r->has_untold = true;
	return recording_load_block(r, b, e);
}

int recording_load_interim(struct recording *r, struct err *e)
{
	int rc = each_inside(r, load_untold, e);

	/* Where the chain has the last word of all, nothing is of that moment. */
	if (rc == 0 && !r->has_untold)
		r->interim = (struct interim){ 0 };
	return rc;
}

void recording_tell_interim(struct recording *r)
{
	const char *start = recording_info(r, "start-monotonic-ns");
	uint64_t start_ns = start ? strtoull(start, NULL, 10) : 0;

	if (r->interim.generation && r->interim.time_ns > start_ns)
		damage_add(&r->damage, "; sums of what ran then are as of %.1f s",
			   (double)(r->interim.time_ns - start_ns) / 1e9);
}

bool recording_has_interim(const struct recording *r, uint64_t *ret_time_ns,
			   uint64_t *ret_next_ns)
{
	*ret_time_ns = r->interim.time_ns;
	*ret_next_ns = r->interim.next_ns;
	return r->interim.generation != 0;
}
