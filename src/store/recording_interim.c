/* SPDX-License-Identifier: Apache-2.0 */
#include "store/recording_data.h"

#include <stdlib.h>

/* Of a recorder that was killed; what it wrote behind them says some of it again. */
int recording_find_interim(struct recording *r, struct err *e)
{
	int rc = interim_find(&r->source, r->list.whole_bytes, &r->interim, e);

	if (rc == 0 && r->interim.generation && r->interim.until)
		block_list_cut(&r->list, r->interim.until);
	return rc;
}

int recording_load_interim(struct recording *r, struct err *e)
{
	uint64_t off = r->interim.from, end = r->interim.end;
	struct block_header h;
	int rc = 0;

	r->source.inner_from = off;
	while (rc == 0 && off < end && block_source_header(&r->source, off, &h, e) == 0) {
		const struct format_entry b = { off, h.stored_size, h.kind, { 0 } };

		off += BLOCK_HEADER_BYTES + h.stored_size;
		if (off <= end && recording_wants(h.kind))
			rc = recording_load_block(r, &b, e);
	}
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
